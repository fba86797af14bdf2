"""F under permutations of whole times, which keep the documents of a time together.

The products of words and topics are summed once for each time, M_y = R_yᵀZ_y (w × r+1). A
permutation gives each time the polynomials of another, so WᵀR is a weighted sum of the M_y: one
matrix product for all permutations, whatever the number of documents.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Float32, Float64, Int32
from wordgeom.drift import kernels
from wordgeom.drift.contrasts import GROUP_SIZE, Moments, float32_contrasts
from wordgeom.drift.mixture_test import mixture
from wordgeom.drift.null_distribution import Null, compute_null
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.statistics import WordResiduals
from wordgeom.drift.time_axis import Axis
from wordgeom.runtime.context import Context
from wordgeom.runtime.scheduler import Result, Scheduler, Shared

MAX_TIMES = 1024  # sums over more times would need more memory than the documents
_WORDS = 128
_SHARE = 4  # a quarter of the memory is for the contrasts of permutations


def null(
    words: WordResiduals, axis: Axis, permutations: Permutations, hold: bool, context: Context
) -> Null:
    """Return F of w words under permutations of T ≤ MAX_TIMES times."""
    size = _at_once(words.rank * axis.degree, context.memory)
    scheduler = context.scheduler
    way = _Times.of(words, axis, hold, scheduler)
    null = compute_null(permutations, size, way, words, axis.degree, _WORDS, context, "times")
    scheduler.release(*way.arrays)
    return null


@dataclass(frozen=True)
class _Times:
    """Permutations of times.

    arrays: grams (T × r+1 × r+1) Z_yᵀZ_y, levels (T × q) and codes (n) of Axis, Z and the grams in
    float32.
    """

    arrays: tuple[Shared, ...]
    n: int
    hold: bool

    @classmethod
    def of(cls, words: WordResiduals, axis: Axis, hold: bool, scheduler: Scheduler) -> _Times:
        """Share what blocks of permutations read."""
        Z, grams = words.Z, _time_grams(words.Z, axis)
        in_float32 = Z.astype(np.float32), grams.astype(np.float32)
        arrays = grams, axis.levels, axis.codes, *in_float32
        return cls(tuple(scheduler.share(array) for array in arrays), len(Z), hold)

    def values(self, codes: Int32) -> Float32:
        """Return the polynomials of permuted times (b q × T)."""
        levels = self.arrays[1].open()
        groups = range(0, len(codes), GROUP_SIZE)
        return np.concatenate([
            np.ascontiguousarray(_rows(levels[codes[at : at + GROUP_SIZE]]), np.float32)
            for at in groups
        ])  # fmt: skip

    def prepared(self, codes: Int32) -> Result:
        """Return the contrasts and the mixture statistic of a group of permutations."""
        grams, levels = (array.open() for array in self.arrays[:2])
        return _contrasts(levels[codes], grams, self.n, self.hold)

    def products(
        self, words: WordResiduals, part: slice, values: Float32, arrays: Result
    ) -> Iterator[Float32]:
        """Yield Rᵀdiag(g_k)Z (b × q × w × r+1) of a slice of words, by group of b permutations."""
        M, q = self._sums(words, part), self.arrays[1].open().shape[1]
        for at in range(0, len(values), GROUP_SIZE * q):
            weights = values[at : at + GROUP_SIZE * q]
            yield (weights @ M.reshape(len(M), -1)).reshape(-1, q, *M.shape[1:])

    def _sums(self, words: WordResiduals, part: slice) -> Float32:
        """Return R_yᵀZ_y (T × w × r+1) of a slice of words."""
        levels, codes, Z, grams = (array.open() for array in self.arrays[1:])
        columns = words.columns.block(part.start, part.stop)
        sides = words.sides[:, part].T.astype(np.float32)
        M = np.zeros((len(levels), columns.rows, Z.shape[1]), np.float32)
        kernels.sum_by_time(columns.indptr, columns.indices, columns.data, Z, codes, M)
        M -= sides @ grams
        return M


def _time_grams(Z: Float64, axis: Axis) -> Float64:
    """Return Z_yᵀZ_y of each time (T × r+1 × r+1)."""
    order = np.argsort(axis.codes, kind="stable")
    ends = np.cumsum(np.bincount(axis.codes, minlength=axis.times))[:-1]
    return np.stack([Z[rows].T @ Z[rows] for rows in np.split(order, ends)])


def _contrasts(levels: Float64, grams: Float64, n: int, hold: bool) -> Result:
    """Return the contrasts and the mixture statistic of permuted polynomials (b × T × q)."""
    b, _, q = levels.shape
    width = grams.shape[1]
    flat = grams.reshape(len(grams), -1)
    first = (_rows(levels) @ flat).reshape(b, q, width, width)
    pairs = (levels[:, :, :, None] * levels[:, :, None, :]).reshape(b, -1, q * q)
    second = (_rows(pairs) @ flat).reshape(b, q, q, width, width)
    moments = Moments(first, second.swapaxes(2, 3))
    return {**vars(float32_contrasts(moments, n, hold)), "mixture": mixture(moments)}


def _rows(levels: Float64) -> Float64:
    """Return polynomials (b × T × q) as the rows of one product (b q × T), which reads T once."""
    return levels.swapaxes(1, 2).reshape(-1, levels.shape[1])


def _at_once(columns: int, memory: int) -> int:
    """Return the number of permutations in a block: whole groups that fit in memory."""
    room = memory // (_SHARE * 4 * columns * columns)
    return max(1, min(room // GROUP_SIZE, 64)) * GROUP_SIZE
