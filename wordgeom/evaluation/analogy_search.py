"""Answer many analogies by 3CosAdd and 3CosMul in one pass over the vocabulary.

One matrix product gives the cosines of all query words with a block of rows; each question then
scans three rows of it. The block size is constant, and ties go to the lower row.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from wordgeom.core.types import Float32, Int32, Int64
from wordgeom.evaluation.analogy_kernels import update_best_answers
from wordgeom.evaluation.word_lookup import Lookup, unit_rows
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.context import Context

NONE = -1  # the answer where every row is excluded
_ROWS = 1024  # of a block: the cosines of one question fit in the L1 cache
_CELLS = 1 << 23  # cosines in memory at once, over all blocks of a batch
_QUESTIONS = 1024  # per unit of work
_BELOW = (-3.0, -1.0)  # lower than any 3CosAdd (≥ −2) and any 3CosMul (≥ 0)


def predict(lookup: Lookup, rows: Int64, epsilon: float, context: Context) -> Int32:
    """Return the answers (Q × 2) int32 of 3CosAdd and 3CosMul to questions a, b, c.

    rows (Q × 3): rows of `lookup`. An answer is a canonical row, or NONE. 3CosAdd maximises
    cos(x, b) − cos(x, a) + cos(x, c); 3CosMul maximises cos'(x, b) cos'(x, c) / (cos'(x, a) + ε),
    cos' = (1 + cos) / 2 (Levy and Goldberg 2014, eq. 1 and 4). The three query words, in any
    equivalent case, and vectors without a direction are excluded.
    """
    search = _Search(lookup, rows, epsilon)
    batches = context.progress.follow(
        _batches(len(lookup.words), len(search.queries)), "analogies", len(lookup.words), "words",
        lambda blocks: blocks[-1].stop - blocks[0].start,
    )  # fmt: skip
    with one_thread():
        for blocks in batches:
            cosines = list(context.pool.map(search.shifted, blocks))
            scan = partial(search.scan, blocks, cosines)
            for _ in context.pool.map(scan, range(0, len(rows), _QUESTIONS)):
                pass
    return search.answers


class _Search:
    """The questions, indexed by their distinct words, and the best answers so far."""

    def __init__(self, lookup: Lookup, rows: Int64, epsilon: float) -> None:
        distinct, indices = np.unique(rows, return_inverse=True)
        self._questions = indices.reshape(rows.shape)
        self._lookup, self._epsilon = lookup, epsilon
        self._units = unit_rows(lookup.matrix[distinct])
        self._best = np.tile(np.array(_BELOW, np.float32), (len(rows), 1))
        self.queries = lookup.canonical[distinct]
        self.answers = np.full((len(rows), 2), NONE, np.int32)

    def shifted(self, block: slice) -> Float32:
        """Return 1 + cosine of the query words with the rows of a block, (W × R) float32."""
        cosines = self._units @ unit_rows(self._lookup.matrix[block]).T
        # A cosine rounded below −1 would change the sign of 3CosMul.
        return np.asarray(np.maximum(cosines + np.float32(1), np.float32(0)))

    def scan(self, blocks: list[slice], shifted: list[Float32], start: int) -> None:
        """Update the best answers to a run of questions with the rows of some blocks."""
        stop = min(start + _QUESTIONS, len(self._questions))
        for block, values in zip(blocks, shifted, strict=True):
            words, barred = self._lookup.canonical[block], self._lookup.zero[block]
            update_best_answers(
                values, words, barred, self._questions, start, stop, self.queries,
                self._epsilon, self._best, self.answers,
            )  # fmt: skip


def _batches(rows: int, words: int) -> Iterator[list[slice]]:
    """Yield lists of blocks whose cosines with `words` words fit in memory together."""
    width = max(1, _CELLS // (words * _ROWS)) * _ROWS
    for start in range(0, rows, width):
        stop = min(start + width, rows)
        yield [slice(k, min(k + _ROWS, stop)) for k in range(start, stop, _ROWS)]
