"""F under permutations of the times of single documents, within groups or among all.

For a word j in the documents I_j, Wᵀx_j under all permutations is one product of dense matrices:
the polynomials at the permuted times of I_j (b q × |I_j|) times x_ij z_i (|I_j| × r+1). It is
several times as fast as a sparse product.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Float32, Float64, Int32
from wordgeom.drift.contrasts import GROUP_SIZE, Moments, float32_contrasts
from wordgeom.drift.mixture_test import mixture
from wordgeom.drift.null_distribution import Null, compute_null
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.statistics import WordResiduals
from wordgeom.drift.time_axis import Axis
from wordgeom.runtime.context import Context
from wordgeom.runtime.scheduler import Result, Scheduler, Shared

AT_ONCE = 16 * GROUP_SIZE  # permutations
_WORDS = 64
_ROWS = 8192  # documents whose products are summed at once


def null(
    words: WordResiduals, axis: Axis, permutations: Permutations, hold: bool, context: Context,
    by_time: bool = False,
) -> Null:  # fmt: skip
    """Return F of w words under permutations of document codes; by_time: of time codes."""
    scheduler = context.scheduler
    way = _Documents.of(words, axis, hold, by_time, scheduler)
    null = compute_null(
        permutations, AT_ONCE, way, words, axis.degree, _WORDS, context, "documents"
    )
    scheduler.release(*way.arrays)
    return null


@dataclass(frozen=True)
class _Documents:
    """Permutations of the times of documents, or of whole times (by_time).

    arrays: levels (T × q) and codes (n) of Axis, Z, and Z in float32.
    """

    arrays: tuple[Shared, ...]
    hold: bool
    by_time: bool

    @classmethod
    def of(
        cls, words: WordResiduals, axis: Axis, hold: bool, by_time: bool, scheduler: Scheduler
    ) -> _Documents:
        """Share what blocks of permutations read."""
        arrays = axis.levels, axis.codes, words.Z, words.Z.astype(np.float32)
        return cls(tuple(scheduler.share(array) for array in arrays), hold, by_time)

    def values(self, codes: Int32) -> Float32:
        """Return the polynomials of documents (n × b q): contiguous under all permutations."""
        levels, permuted = self.arrays[0].open().astype(np.float32), self._of_documents(codes)
        made: Float32 = levels[permuted.T].reshape(permuted.shape[1], -1)
        return made

    def prepared(self, codes: Int32) -> Result:
        """Return the contrasts, the mixture statistic and first moments of some permutations."""
        levels, Z = self.arrays[0].open(), self.arrays[2].open()
        moments = _moments(self._of_documents(codes), Z, levels)
        contrasts = vars(float32_contrasts(moments, len(Z), self.hold))
        first = moments.first.astype(np.float32)
        return {**contrasts, "mixture": mixture(moments), "first": first}

    def products(
        self, words: WordResiduals, part: slice, values: Float32, arrays: Result
    ) -> Iterator[Float32]:
        """Yield Rᵀdiag(g_k)Z (b × q × w × r+1) of a slice of words, by group of b permutations."""
        sums = self._sums(words, part, values)
        sides = words.sides[:, part].T.astype(np.float32)
        for at in range(0, len(arrays["first"]), GROUP_SIZE):
            first = arrays["first"][at : at + GROUP_SIZE]
            yield sums[:, at : at + len(first)].transpose(1, 2, 0, 3) - sides @ first

    def _of_documents(self, codes: Int32) -> Int32:
        """Return the permuted codes of documents (b × n)."""
        permuted: Int32 = codes[:, self.arrays[1].open()] if self.by_time else codes
        return permuted

    def _sums(self, words: WordResiduals, part: slice, values: Float32) -> Float32:
        """Return x_jᵀdiag(g_k)Z (w × b × q × r+1) of a slice of words."""
        columns, Z = words.columns.block(part.start, part.stop), self.arrays[3].open()
        width, q = Z.shape[1], self.arrays[0].open().shape[1]
        out = np.empty((columns.rows, values.shape[1], width), np.float32)
        for j in range(columns.rows):
            entries = slice(columns.indptr[j], columns.indptr[j + 1])
            documents = columns.indices[entries]
            rows = Z.take(documents, axis=0)
            rows *= columns.data[entries, None]
            np.matmul(values.take(documents, axis=0).T, rows, out=out[j])
        return out.reshape(columns.rows, -1, q, width)


def _moments(codes: Int32, Z: Float64, levels: Float64) -> Moments:
    """Return the moments of permutations (b × n)."""
    width, q = Z.shape[1], levels.shape[1]
    first = np.zeros((len(codes), q * width, width))
    second = np.zeros((len(codes), q * width, q * width))
    for start in range(0, len(Z), _ROWS):
        rows = Z[start : start + _ROWS]
        for b, g in enumerate(levels[codes[:, start : start + _ROWS]]):
            S = (g[:, :, None] * rows[:, None, :]).reshape(len(rows), -1)
            first[b] += S.T @ rows
            second[b] += S.T @ S
    shape = (len(codes), q, width)
    return Moments(first.reshape(*shape, width), second.reshape(*shape, q, width))
