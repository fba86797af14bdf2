"""Answers to many analogies at once, by 3CosAdd and 3CosMul, in one pass over the vocabulary.

The cosines of all asked words with a block of rows are one product of matrices; each question
then walks over three lines of it. Blocks are constant and ties go to the lower row.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from wordgeom.core.types import Float32, Int32, Int64
from wordgeom.evaluation.analogy_kernels import update_best_answers
from wordgeom.evaluation.word_lookup import Lookup, unit_rows
from wordgeom.runtime.context import Context

NONE = -1  # no row may answer
_ROWS = 1024  # of a block: its lines for one question fit into the fastest cache
_CELLS = 1 << 23  # cosines held at once, in as many blocks as there is room for
_QUESTIONS = 1024  # walked by a thread at a time
_BELOW = (-3.0, -1.0)  # any value of 3CosAdd (at least −2), of 3CosMul (at least 0)


def predict(lookup: Lookup, rows: Int64, epsilon: float, context: Context) -> Int32:
    """Return the words (Q × 2) that 3CosAdd and 3CosMul answer to questions a, b, c.

    rows (Q × 3) are those of `lookup`; an answer is the row of its word's earliest form, NONE where
    no row is left. 3CosAdd: the highest cos(x, b) − cos(x, a) + cos(x, c); 3CosMul: the highest
    cos'(x, b) cos'(x, c) / (cos'(x, a) + ε), cos' = (1 + cos) / 2 (Levy and Goldberg 2014, eq. 1
    and 4). The three words, in any case that counts as the same, and vectors without a direction
    do not answer.
    """
    from threadpoolctl import threadpool_limits

    search = _Search(lookup, rows, epsilon)
    waves = context.progress.follow(
        _waves(len(lookup.words), len(search.asked)), "analogies", len(lookup.words), "words",
        lambda blocks: blocks[-1].stop - blocks[0].start,
    )  # fmt: skip
    with threadpool_limits(limits=1, user_api="blas"):
        for blocks in waves:
            held = list(context.pool.map(search.shifted, blocks))
            walk = partial(search.walk, blocks, held)
            for _ in context.pool.map(walk, range(0, len(rows), _QUESTIONS)):
                pass
    return search.answers


class _Search:
    """The questions by the distinct words that they ask of, and their best answers so far."""

    def __init__(self, lookup: Lookup, rows: Int64, epsilon: float) -> None:
        distinct, lines = np.unique(rows, return_inverse=True)
        self._questions = lines.reshape(rows.shape)
        self._lookup, self._epsilon = lookup, epsilon
        self._units = unit_rows(lookup.matrix[distinct])
        self._best = np.tile(np.array(_BELOW, np.float32), (len(rows), 1))
        self.asked = lookup.canonical[distinct]
        self.answers = np.full((len(rows), 2), NONE, np.int32)

    def shifted(self, block: slice) -> Float32:
        """Return 1 + cosine of the asked words with the rows of a block, (W × R) float32."""
        cosines = self._units @ unit_rows(self._lookup.matrix[block]).T
        # Rounding may leave a cosine below −1, where 3CosMul would change its sign.
        return np.asarray(np.maximum(cosines + np.float32(1), np.float32(0)))

    def walk(self, blocks: list[slice], held: list[Float32], start: int) -> None:
        """Let the rows of some blocks, `shifted`, answer the questions from `start` on."""
        stop = min(start + _QUESTIONS, len(self._questions))
        for block, values in zip(blocks, held, strict=True):
            words, barred = self._lookup.canonical[block], self._lookup.zero[block]
            update_best_answers(
                values, words, barred, self._questions, start, stop, self.asked,
                self._epsilon, self._best, self.answers,
            )  # fmt: skip


def _waves(rows: int, words: int) -> Iterator[list[slice]]:
    """Yield the blocks of rows whose cosines with `words` words are held at once."""
    width = max(1, _CELLS // (words * _ROWS)) * _ROWS
    for start in range(0, rows, width):
        stop = min(start + width, rows)
        yield [slice(k, min(k + _ROWS, stop)) for k in range(start, stop, _ROWS)]
