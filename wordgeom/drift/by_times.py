"""F under permutations of whole times, which keep the documents of a time together.

The products of words and topics are summed once for each time, M_y = R_yᵀZ_y (w × r+1). A
permutation gives each time the polynomials of another, so WᵀR is a weighted sum of the M_y: one
matrix product for all permutations, whatever the number of documents.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Float32, Float64, Int32
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
from wordgeom.drift.null_distribution import Block, Null, Runner, compute_null
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.statistics import WordResiduals, degrees_of_freedom
from wordgeom.drift.time_axis import Axis
from wordgeom.runtime.pool import Pool

MAX_TIMES = 1024  # sums over more times would need more memory than the documents
_WORDS = 128
_SHARE = 4  # a quarter of the memory is for the contrasts of permutations


def null(
    words: WordResiduals, axis: Axis, permutations: Permutations, hold: bool, runner: Runner
) -> Null:
    """Return F of w words under permutations of T ≤ MAX_TIMES times."""
    grams = time_grams(words.Z, axis)
    size = _at_once(words.rank * axis.degree, runner.memory)

    def prepare(codes: Int32) -> Block:
        block = _Block(words, axis, grams, codes, hold, runner.pool)
        return block.mixture, block.fill

    return compute_null(permutations, size, prepare, len(words), _WORDS, runner, "times")


class _Block:
    """A block of permutations, prepared for all words."""

    def __init__(
        self, words: WordResiduals, axis: Axis, grams: Float64, codes: Int32, hold: bool, pool: Pool
    ) -> None:
        n = len(words.Z)
        self._words, self._axis, self._tested = words, axis, tested_columns(hold)
        self._degrees = degrees_of_freedom(n, words.rank, axis.degree)
        groups = [
            axis.levels[codes[at : at + GROUP_SIZE]] for at in range(0, len(codes), GROUP_SIZE)
        ]
        known = list(pool.map(lambda levels: _contrasts(levels, grams, n, hold), groups))
        self._contrasts = [found for found, _ in known]
        self.mixture = np.concatenate([value for _, value in known])
        self._grams, self._Z = grams.astype(np.float32), words.Z.astype(np.float32)
        self._weights = [_flat(group) for group in groups]

    def fill(self, F: Float32, words: slice) -> None:
        """Set F (b × w) at the columns `words`."""
        M, n, at = self._sums(words), len(self._words.Z), 0
        residuals, q = self._words.of(words, self._degrees), self._axis.degree
        flat = M.reshape(len(M), -1)
        for weights, group in zip(self._weights, self._contrasts, strict=True):
            products = (weights @ flat).reshape(-1, q, *M.shape[1:])
            raw = np.concatenate([products[:, k, :, self._tested] for k in range(q)], axis=2)
            along = n**0.5 * products[:, :, :, 0].astype(np.float64)
            F[at : at + len(raw), words] = word_f_values(group, raw, along, residuals)
            at += len(raw)

    def _sums(self, words: slice) -> Float32:
        """Return R_yᵀZ_y (T × w × r+1) of a slice of words."""
        columns = self._words.columns.block(words.start, words.stop)
        sides = self._words.sides[:, words].T.astype(np.float32)
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


def _contrasts(levels: Float64, grams: Float64, n: int, hold: bool) -> tuple[Contrasts, Array]:
    """Return the contrasts and the mixture statistic of permuted polynomials (b × T × q)."""
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
    rows = levels.swapaxes(1, 2).reshape(-1, levels.shape[1])
    return np.ascontiguousarray(rows, np.float32)


def _at_once(columns: int, memory: int) -> int:
    """Return the number of permutations in a block: whole groups that fit in memory."""
    room = memory // (_SHARE * 4 * columns * columns)
    return max(1, min(room // GROUP_SIZE, 64)) * GROUP_SIZE
