"""Co-occurrences of words and frequent context words in passages, and their PPMI."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Csr, Float32, Float64, Int32, Int64, offsets
from wordgeom.drift import kernels


def most_frequent(uses: Float64, number: int) -> Int64:
    """Return the rows of the most frequent words in use, ascending; uses (V)."""
    order = np.argsort(-uses, kind="stable")[:number]
    return np.sort(order[uses[order] > 0])


def with_contexts(X: Csr, words: Int64) -> tuple[Csr, Int64]:
    """Return passages X (n × V) reduced to context words (n × M), and their places (V), else −1.

    words (M): rows of the vocabulary, ascending.
    """
    places = np.full(X.columns, -1, np.int64)
    places[words] = np.arange(len(words))
    columns = places[X.indices]
    chosen = columns >= 0
    lengths = np.bincount(X.entry_rows[chosen], minlength=X.rows)
    indices: Int32 = columns[chosen].astype(np.int32)
    data = X.data[chosen].astype(np.float32)
    return Csr(offsets(lengths), indices, data, len(words)), places


def add_contexts(
    words: Int64, columns: Csr, chosen: Array, places: Int64, near: Csr, out: Float64
) -> None:
    """Add the co-occurrences of words (w) with contexts in some passages to out (w × M).

    columns (V × n) float32: the passages of each word; chosen (n): mask; places, near: see
    with_contexts. A token does not co-occur with itself.
    """
    kernels.add_contexts(
        words, columns.indptr, columns.indices, columns.data, chosen, places,
        near.indptr, near.indices, near.data, out,
    )  # fmt: skip


def ppmi(counts: Float64, rows: Float64, columns: Float64, total: float) -> Float32:
    """Return PPMI (w × M) from co-occurrences, and the sums of rows, columns and all words."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = counts * (total / rows)[:, None] / columns
    ratios[~(counts > 0.0)] = 1.0
    return np.log(np.maximum(ratios, 1.0), out=ratios).astype(np.float32)
