"""The words that vectors and a reference have in common, and which of them are scored."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float32, Float64, Int64
from wordgeom.evaluation.exclusions import count_reasons, with_exclusions
from wordgeom.evaluation.options import COSINE
from wordgeom.evaluation.word_lookup import MISSING, SAME
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.norms import row_norms

UNUSABLE = "words with a vector that is not finite or, for cosines, zero"
UNDRAWN = "words not drawn: they count as neighbours only"
_ALL, _SAMPLE = 20_000, 10_000  # words, up to which all are scored, and how many of more
# A training with the same seed may have drawn its landmarks: they must not be the words drawn here.
_STREAM = 0x5C0E


@dataclass(frozen=True, eq=False)
class Side:
    """The vectors of n words: rows (n) of matrix (· × d) float32, and their norms (n) float64."""

    matrix: Float32
    rows: Int64
    norms: Float64

    def units(self, positions: Int64 | slice) -> Float64:
        """Return the unit vectors (b × d) of some words, zero for zero vectors."""
        lengths = self.norms[positions]
        scale = np.divide(1.0, lengths, out=np.zeros(len(lengths)), where=lengths > 0)
        return np.asarray(self.matrix[self.rows[positions]] * scale[:, None])

    def points(self, positions: Int64 | slice) -> Float64:
        """Return the vectors (b × d) of some words in float64."""
        return self.matrix[self.rows[positions]].astype(np.float64)


@dataclass(frozen=True, eq=False)
class CommonWords:
    """The n words that both files have.

    items (n): their rows in the reference; ours, theirs: their vectors, and those of the
    reference; excluded: number of words of the reference that are left out, by reason.
    """

    items: Int64
    ours: Side
    theirs: Side
    excluded: dict[str, int]

    def check_number(self, least: int, what: str, where: str, do: str) -> None:
        """Raise InputError where fewer than `least` words are common: `what` needs them."""
        n = len(self.items)
        if n < least:
            found = with_exclusions(f"{n:,} in common", self.excluded)
            raise InputError(what, where=where, found=found, do=do)

    def drawn(self, most: int | None, seed: int) -> Int64:
        """Return which of the words are scored, ascending: by default all, or some of many."""
        n = len(self.items)
        most = most if most is not None else n if n <= _ALL else _SAMPLE
        if not most or most >= n:
            return np.arange(n)
        return np.sort(np.random.default_rng((_STREAM, seed)).choice(n, most, replace=False))


def common_words(
    vectors: Vectors, reference: Vectors, metric: str, reference_metric: str
) -> CommonWords:
    """Match the words of vectors with those of a reference; a metric excludes vectors without it.

    Cosines need nonzero vectors, and all vectors must be finite.
    """
    norms = row_norms(vectors.matrix), row_norms(reference.matrix)
    usable = _usable(norms[0], metric), _usable(norms[1], reference_metric)
    rows, seen = np.full(len(reference.words), -1, np.int64), set[int]()
    reasons = []
    for item, word in enumerate(reference.words):
        row = vectors.row(word)
        if row is None:
            reasons.append(MISSING)
        elif not (usable[0][row] and usable[1][item]):
            reasons.append(UNUSABLE)
        elif row in seen:
            reasons.append(SAME)
        else:
            seen.add(row)
            rows[item] = row
            reasons.append("")
    items = np.flatnonzero(rows >= 0)
    ours = Side(vectors.matrix, rows[items], norms[0][rows[items]])
    theirs = Side(reference.matrix, items, norms[1][items])
    return CommonWords(items, ours, theirs, count_reasons(reasons))


def _usable(norms: Float64, metric: str) -> Array:
    finite = np.isfinite(norms)
    return finite & (norms > 0) if metric == COSINE else finite
