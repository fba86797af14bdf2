"""Vectors of each period by the geometric build-up, aligned by Procrustes, with p.

The vectors are those of `gbu --as-published` without sweeps, Algorithm 1 on the PPMI of passage
co-occurrences: the anchors are the 4 K most frequent words. It reads their columns alone, which
makes 99 permutations affordable. All documents are dealt to the periods anew, and vectors and
alignment are made anew from them. A word that merely becomes more frequent may be flagged.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.types import Array, Csr, Float64, Int64, offsets
from wordgeom.drift.co_occurrences import ppmi, with_contexts
from wordgeom.drift.measures import pmi, procrustes
from wordgeom.drift.measures.passages import Passages
from wordgeom.drift.measures.results import Measured, reached
from wordgeom.linalg.procrustes import align
from wordgeom.methods.gbu.algorithm1 import build_up
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.vectors.nearest import unit_vectors

ASSUMPTION = (
    "documents are exchangeable between the periods; "
    "a word whose frequency alone changed may have a small p"
)
_ANCHORS, _EIG = 4, 0.5  # times K, and the power of the eigenvalues, as published


def measure(
    passages: Passages, words: Int64, dim: int, permutations: int, context: Context
) -> Measured:
    """Return the change of words (w), rows of the vocabulary with uses in both periods.

    Raises RankError where there are fewer words than dimensions.
    """
    if dim > len(words):
        what = f"--dim {dim} exceeds the number of words"
        raise RankError(what, found=len(words), do="lower --dim or --min-uses")
    build = _Builder(passages, words, dim, context)
    then, now = build.units(passages.late)
    observed = procrustes.distances(then, now)
    counts = np.ones(len(words))

    def permuted() -> Iterator[int]:
        for late in _permutations(passages.late, permutations, context.rng):
            counts[:] += reached(procrustes.distances(*build.units(late)), observed)
            yield 1

    for _ in context.progress.follow(permuted(), "permutations", permutations, "", int):
        pass
    method = f"{procrustes.METHOD}; vectors of each period by gbu, Algorithm 1, dimension {dim}"
    p = counts / (permutations + 1)
    # Both sets of neighbours are those of one basis.
    aligned = align(then, now).apply(then)
    return Measured(observed, aligned, now, method, p, ASSUMPTION, permutations)


def _permutations(late: Array, number: int, rng: np.random.Generator) -> Iterator[Array]:
    for _ in range(number):
        yield rng.permutation(late)


class _Builder:
    """Vectors of two periods, from the documents of each."""

    def __init__(self, passages: Passages, words: Int64, dim: int, context: Context) -> None:
        self._passages, self._words, self._dim, self._context = passages, words, dim, context
        totals = passages.uses().sum(axis=0)[words]
        places = np.sort(np.argsort(-totals, kind="stable")[: _ANCHORS * dim])
        self._anchors, self._columns = places, words[places]
        needed = 40 * len(words) * len(places)
        check_memory("the co-occurrences", needed, context.memory, "lower --dim")
        self._contexts = with_contexts(passages.X, self._columns)
        both = np.ones(len(passages.late), bool)
        self._all, self._pairs = self._counts(both), passages.pairs(both)

    def units(self, late: Array) -> tuple[Float64, Float64]:
        """Return the unit vectors (w × K) of both periods, by the period of each document (D)."""
        counts, pairs = self._counts(late), self._passages.pairs(late)
        earlier = self._vectors(self._all - counts, self._pairs - pairs)
        return earlier, self._vectors(counts, pairs)

    def _counts(self, late: Array) -> Float64:
        return pmi.co_occurrences(self._passages, self._words, *self._contexts, late, self._context)

    def _vectors(self, counts: Float64, pairs: Float64) -> Float64:
        weighted = ppmi(counts, pairs[self._words], pairs[self._columns], float(pairs.sum()))
        there = weighted != 0.0
        columns = Csr(
            offsets(np.count_nonzero(there, axis=1)), np.nonzero(there)[1].astype(np.int32),
            weighted[there], weighted.shape[1],
        )  # fmt: skip
        built = build_up(columns, self._anchors, self._dim, _EIG, self._context.ops)
        return unit_vectors(built.vectors)
