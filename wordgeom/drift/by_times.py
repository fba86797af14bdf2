"""F under permutations of whole times, which keep the documents of a time together.

The products of words and topics are summed once for each time, M_y = R_yᵀZ_y (w × r+1). A
permutation gives each time the polynomials of another, so WᵀR is a weighted sum of the M_y: one
matrix product for all permutations, whatever the number of documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from wordgeom.core.types import Array, Float32, Float64, Int32
from wordgeom.drift import kernels
from wordgeom.drift.contrasts import GROUP_SIZE, Contrasts, Moments, float32_contrasts
from wordgeom.drift.mixture_test import mixture
from wordgeom.drift.null_distribution import Null, compute_null, prepare_groups
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.statistics import WordResiduals
from wordgeom.drift.time_axis import Axis
from wordgeom.runtime.context import Context

MAX_TIMES = 1024  # sums over more times would need more memory than the documents
_WORDS = 128
_SHARE = 4  # a quarter of the memory is for the contrasts of permutations


def null(
    words: WordResiduals, axis: Axis, permutations: Permutations, hold: bool, context: Context
) -> Null:
    """Return F of w words under permutations of T ≤ MAX_TIMES times."""
    grams = _time_grams(words.Z, axis)
    size = _at_once(words.rank * axis.degree, context.memory)
    prepare = partial(_Block, words, axis, grams, hold, context)
    return compute_null(permutations, size, prepare, words, axis.degree, _WORDS, context, "times")


class _Block:
    """A block of permutations, prepared for all words."""

    def __init__(
        self, words: WordResiduals, axis: Axis, grams: Float64, hold: bool, context: Context,
        codes: Int32,
    ) -> None:  # fmt: skip
        n = len(words.Z)
        self._words, self._axis = words, axis
        groups = [
            axis.levels[codes[at : at + GROUP_SIZE]] for at in range(0, len(codes), GROUP_SIZE)
        ]
        known = prepare_groups(lambda levels: _contrasts(levels, grams, n, hold), groups, context)
        self.contrasts = [found for found, _ in known]
        self.mixture = np.concatenate([value for _, value in known])
        self._grams, self._Z = grams.astype(np.float32), words.Z.astype(np.float32)
        self._weights = [np.ascontiguousarray(_rows(group), np.float32) for group in groups]

    def products(self, words: slice) -> Iterator[Float32]:
        """Yield Rᵀdiag(g_k)Z (b × q × w × r+1) of a slice of words, by group of b permutations."""
        M = self._sums(words)
        for weights in self._weights:
            yield (weights @ M.reshape(len(M), -1)).reshape(-1, self._axis.degree, *M.shape[1:])

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


def _time_grams(Z: Float64, axis: Axis) -> Float64:
    """Return Z_yᵀZ_y of each time (T × r+1 × r+1)."""
    order = np.argsort(axis.codes, kind="stable")
    ends = np.cumsum(np.bincount(axis.codes, minlength=axis.times))[:-1]
    return np.stack([Z[rows].T @ Z[rows] for rows in np.split(order, ends)])


def _contrasts(levels: Float64, grams: Float64, n: int, hold: bool) -> tuple[Contrasts, Array]:
    """Return the contrasts and the mixture statistic of permuted polynomials (b × T × q)."""
    b, _, q = levels.shape
    width = grams.shape[1]
    flat = grams.reshape(len(grams), -1)
    first = (_rows(levels) @ flat).reshape(b, q, width, width)
    pairs = (levels[:, :, :, None] * levels[:, :, None, :]).reshape(b, -1, q * q)
    second = (_rows(pairs) @ flat).reshape(b, q, q, width, width)
    moments = Moments(first, second.swapaxes(2, 3))
    return float32_contrasts(moments, n, hold), mixture(moments)


def _rows(levels: Float64) -> Float64:
    """Return polynomials (b × T × q) as the rows of one product (b q × T), which reads T once."""
    return levels.swapaxes(1, 2).reshape(-1, levels.shape[1])


def _at_once(columns: int, memory: int) -> int:
    """Return the number of permutations in a block: whole groups that fit in memory."""
    room = memory // (_SHARE * 4 * columns * columns)
    return max(1, min(room // GROUP_SIZE, 64)) * GROUP_SIZE
