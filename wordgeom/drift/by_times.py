"""F under arrangements of whole times: what sets a time apart stays together.

The products of words and topics are added up once for each time, M_y = R_yᵀZ_y (w × r+1). An
arrangement gives each time another's polynomials, so that WᵀR is a sum of M_y weighted by them:
one product of matrices for all arrangements, whatever the number of documents.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Float32, Float64
from wordgeom.drift import kernels
from wordgeom.drift.contrasts import (
    FLOAT32_RIDGE,
    GROUP_SIZE,
    Contrasts,
    Moments,
    contrasts,
    tested_columns,
    word_f_values,
)
from wordgeom.drift.mixture_test import mixture
from wordgeom.drift.null_distribution import NullDistribution, Runner
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.statistics import WordResiduals, degrees_of_freedom
from wordgeom.drift.time_axis import Axis

MAX_TIMES = 1024  # times: with more, their sums would take more than the documents
_WORDS = 128
_SHARE = 4  # of the memory, for what is known of arrangements


def null(
    words: WordResiduals, axis: Axis, arrangements: Permutations, hold: bool, runner: Runner
) -> NullDistribution:
    """Return F of w words under arrangements of T ≤ MAX_TIMES times."""
    found = NullDistribution.empty(arrangements.count, len(words))
    grams = time_grams(words.Z, axis)
    size, label = _at_once(words.rank * axis.degree, runner.memory), "permutations of times"
    for start, block in enumerate(arrangements.blocks(size)):
        rows = slice(start * size, start * size + len(block))
        groups = [
            axis.levels[block[at : at + GROUP_SIZE]] for at in range(0, len(block), GROUP_SIZE)
        ]
        known = list(runner.pool.map(lambda g: _known(g, grams, axis, len(words.Z), hold), groups))
        found.mixture[rows] = np.concatenate([value for _, value in known])
        task = _Task(words, axis, grams, groups, [c for c, _ in known], hold)
        F = found.F[rows]

        def work(block: slice, task: _Task = task, F: Float32 = F) -> None:
            task.fill(block, F[:, block])

        runner.over_words(work, len(words), _WORDS, label)
    return found


class _Task:
    """Permutations that are known, for blocks of words."""

    def __init__(
        self, words: WordResiduals, axis: Axis, grams: Float64, groups: list[Float64],
        known: list[Contrasts], hold: bool,
    ) -> None:  # fmt: skip
        self._words, self._axis, self._known = words, axis, known
        self._grams, self._Z = grams.astype(np.float32), words.Z.astype(np.float32)
        self._weights = [_flat(group) for group in groups]
        n = len(words.Z)
        self._degrees = degrees_of_freedom(n, words.rank, axis.degree)
        self._tested = tested_columns(hold)

    def fill(self, block: slice, F: Float32) -> None:
        """Set F (b × w) of a block of w words."""
        M, n, at = self._sums(block), len(self._words.Z), 0
        rest, q = self._words.of(block, self._degrees), self._axis.degree
        flat = M.reshape(len(M), -1)
        for weights, known in zip(self._weights, self._known, strict=True):
            found = (weights @ flat).reshape(-1, q, *M.shape[1:])
            raw = np.concatenate([found[:, k, :, self._tested] for k in range(q)], axis=2)
            along = n**0.5 * found[:, :, :, 0].astype(np.float64)
            F[at : at + len(raw)] = word_f_values(known, raw, along, rest)
            at += len(raw)

    def _sums(self, block: slice) -> Float32:
        """Return R_yᵀZ_y (T × w × r+1) of a block of words."""
        columns = self._words.columns.block(block.start, block.stop)
        sides = self._words.sides[:, block].T.astype(np.float32)
        M = np.zeros((self._axis.times, columns.rows, self._Z.shape[1]), np.float32)
        kernels.sum_by_time(
            columns.indptr, columns.indices, columns.data, self._Z, self._axis.codes, M
        )
        M -= sides @ self._grams
        return M


def time_grams(Z: Float64, axis: Axis) -> Float64:
    """Return Z_yᵀZ_y of each time (T × r+1 × r+1)."""
    order = np.argsort(axis.codes, kind="stable")
    ends = np.cumsum(np.bincount(axis.codes, minlength=axis.times))[:-1]
    return np.stack([Z[rows].T @ Z[rows] for rows in np.split(order, ends)])


def _known(
    levels: Float64, grams: Float64, axis: Axis, n: int, hold: bool
) -> tuple[Contrasts, Array]:
    """Return all that words need of arrangements with polynomials levels (b × T × q)."""
    b, _, q = levels.shape
    width = grams.shape[1]
    flat = grams.reshape(len(grams), -1)
    first = (levels.swapaxes(1, 2) @ flat).reshape(b, q, width, width)
    pairs = (levels[:, :, :, None] * levels[:, :, None, :]).reshape(b, -1, q * q)
    second = (pairs.swapaxes(1, 2) @ flat).reshape(b, q, q, width, width)
    moments = Moments(first, second.swapaxes(2, 3))
    return contrasts(moments, n, hold, FLOAT32_RIDGE).single(), mixture(moments)


def _flat(levels: Float64) -> Float32:
    """Return polynomials (b × T × q) as the rows of a product (b q × T)."""
    turned = levels.swapaxes(1, 2).reshape(-1, levels.shape[1])
    return np.ascontiguousarray(turned, np.float32)


def _at_once(columns: int, memory: int) -> int:
    """Return how many arrangements are known at once: whole groups, so that none is torn."""
    room = memory // (_SHARE * 4 * columns * columns)
    return max(1, min(room // GROUP_SIZE, 64)) * GROUP_SIZE
