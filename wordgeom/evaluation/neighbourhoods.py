"""Neighbourhoods: how well vectors, such as a map, preserve those of reference vectors.

With ranks r of neighbours in the reference, r' in the evaluated vectors, and n words:

    trustworthiness  1 − 1/(n G) Σ_i Σ_{j: r'(i,j) ≤ k} max(r(i,j) − k, 0)
    continuity       1 − 1/(n G) Σ_i Σ_{j: r(i,j) ≤ k} max(r'(i,j) − k, 0)
    recall           share of the k nearest in the reference that are among the k nearest

where G is the largest inner sum (Venna and Kaski 2001). Ties are broken at random, and scores are
the expected values: n identical points score as chance does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.core.types import Array, Float32, Float64, Int64
from wordgeom.evaluation.answers import Answers, Measure
from wordgeom.evaluation.exclusions import count_reasons, with_exclusions
from wordgeom.evaluation.lines import SetFile
from wordgeom.evaluation.options import COSINE, EUCLIDEAN
from wordgeom.evaluation.word_lookup import MISSING, SAME
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.vectors.keyed import Vectors

UNUSABLE = "words with a vector that is not finite or, for cosines, zero"
UNDRAWN = "words not drawn: they count as neighbours only"
_NAMES = {COSINE: "cosine", EUCLIDEAN: "Euclidean"}
_ALL, _SAMPLE = 100_000, 10_000  # words, up to which all are scored, and how many of more
_ROWS, _CELLS = 32, 1 << 24  # most rows of a block, and most distances
_CHUNK = 1 << 14  # rows whose norms are computed at once


@dataclass(frozen=True)
class Neighbourhoods(SetFile):
    """The neighbourhoods of a file of reference vectors, which is read when it is needed."""

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Return recall, trustworthiness and continuity of each word, (n × 3), as `given`.

        The items are the reference's words. Raises InputError where fewer than k + 2 words have
        both vectors, or where the distances exceed the memory limit.
        """
        reference = read_any_vectors(Path(self.path), memory=context.memory)
        scales = (
            _scales(vectors.matrix, self.options.metric),
            _scales(reference.matrix, self.options.reference_metric),
        )
        rows, reasons = _matched(vectors, reference, scales)
        items, excluded = np.flatnonzero(rows >= 0), count_reasons(reasons)
        n, k = len(items), self.options.neighbours
        if n < k + 2:
            found = with_exclusions(f"{n:,} in common", excluded)
            what = f"{k} neighbours need {k + 2} words with both vectors"
            do = "lower --neighbours, or check the spelling of the words"
            raise InputError(what, where=self.path, found=found, do=do)
        sides = ((vectors.matrix, scales[0], rows[items]), (reference.matrix, scales[1], items))
        drawn = _drawn(n, self.options.reference_words, context.seed)
        sums = _rank_sums(sides, drawn, k, context)
        if len(drawn) < n:
            excluded[UNDRAWN] = n - len(drawn)
        values = np.column_stack([sums[:, 2] / k, 1.0 - sums[:, :2] / largest_sum(n, k)])
        notes = self._notes(n, len(vectors.words), reference.duplicates)
        return Answers("neighbourhoods", self.name, _measures(k), items[drawn], values,
                       np.empty((len(drawn), 0)), excluded, notes=notes)  # fmt: skip

    def _notes(self, n: int, words: int, duplicates: int) -> tuple[str, ...]:
        k, how = self.options.neighbours, self.options
        random = (n - 1 - k) * (n - k) / 2 * k / (n - 1)  # expected sum of ranks beyond k
        notes = [
            f"neighbours among {n:,} words by {_NAMES[how.metric]} distance, in the reference by "
            f"{_NAMES[how.reference_metric]} distance; ties count as in random order",
            f"chance level: recall {k / (n - 1):.4f}, trustworthiness and continuity "
            f"{1.0 - random / largest_sum(n, k):.4f}",
        ]
        if words > n:
            notes.append(f"{words - n:,} of {words:,} words of the vectors are not used")
        if duplicates:
            repeated = several(duplicates, "repeated word", "repeated words")
            notes.append(f"{repeated} of the reference ignored")
        return tuple(notes)


def largest_sum(n: int, k: int) -> float:
    """Return the largest Σ max(rank − k, 0) over k of a word's n − 1 neighbours, k ≤ n − 2."""
    beyond = n - 1 - k
    most = min(k, beyond)
    return most * (2 * beyond - most + 1) / 2


def _measures(k: int) -> tuple[Measure, ...]:
    names = (f"recall at {k}", f"trustworthiness at {k}", f"continuity at {k}")
    return tuple(Measure(name, partial(_mean, c), most=1.0) for c, name in enumerate(names))


def _mean(column: int, given: Array, _gold: Array) -> float:
    return float(given[:, column].mean())


def _scales(matrix: Float32, metric: str) -> Float64:
    """Return what rows (n) are divided by: their norm for cosines, else 1; nan if unusable."""
    norms = np.empty(len(matrix))
    for first in range(0, len(matrix), _CHUNK):
        wide = matrix[first : first + _CHUNK].astype(np.float64)
        norms[first : first + _CHUNK] = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    usable = np.isfinite(norms)
    if metric == COSINE:
        usable &= norms > 0
    return np.where(usable, norms if metric == COSINE else 1.0, np.nan)


def _matched(
    vectors: Vectors, reference: Vectors, scales: tuple[Float64, Float64]
) -> tuple[Int64, list[str]]:
    """Return the rows of the reference's words (n) in `vectors`, −1 for none, and why not."""
    rows, seen = np.full(len(reference.words), -1, np.int64), set[int]()
    reasons = []
    for item, word in enumerate(reference.words):
        row = vectors.row(word)
        if row is None:
            reasons.append(MISSING)
        elif np.isnan(scales[0][row]) or np.isnan(scales[1][item]):
            reasons.append(UNUSABLE)
        elif row in seen:
            reasons.append(SAME)
        else:
            seen.add(row)
            rows[item] = row
            reasons.append("")
    return rows, reasons


def _drawn(n: int, most: int | None, seed: int) -> Int64:
    """Return which of n words are scored, ascending."""
    most = most if most is not None else n if n <= _ALL else _SAMPLE
    if not most or most >= n:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, most, replace=False))


def _rank_sums(
    sides: tuple[tuple[Float32, Float64, Int64], ...], drawn: Int64, k: int, context: Context
) -> Float64:
    """Return the sums of `neighbourhood_sums` (R × 3) of the words drawn.

    sides: vectors and reference, each as a matrix, what its rows are divided by, and the rows (n)
    of the words. Raises InputError where that exceeds the memory limit.
    """
    from wordgeom.evaluation.neighbourhood_kernels import neighbourhood_sums, squared_distances

    n = len(sides[0][2])
    height = max(1, min(_ROWS, _CELLS // n))
    width = sum(matrix.shape[1] for matrix, _, _ in sides)
    needed = 8 * n * width + 16 * n * height * context.pool.threads
    check_memory("the distances of neighbourhoods", needed, context.memory, "raise --memory")
    columns = [np.ascontiguousarray(matrix[rows].T) for matrix, _, rows in sides]
    norms = [scales[rows] for _, scales, rows in sides]

    def run(first: int) -> Float64:
        rows, sums = drawn[first : first + height], np.empty((min(height, len(drawn) - first), 3))
        ours, theirs = (
            squared_distances(each, scale, rows) for each, scale in zip(columns, norms, strict=True)
        )
        neighbourhood_sums(ours, theirs, k, sums)
        return sums

    done: Iterator[Float64] = context.pool.map(run, range(0, len(drawn), height))
    shown = context.progress.follow(done, "neighbourhoods", len(drawn), "words", len)
    return np.concatenate(list(shown))
