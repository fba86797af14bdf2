"""F under permutations of the times of single documents, within groups or among all.

For a word j in the documents I_j, Wᵀx_j under all permutations is one product of dense matrices:
the polynomials at the permuted times of I_j (b q × |I_j|) times x_ij z_i (|I_j| × r+1). It is
several times as fast as a sparse product.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from wordgeom.core.types import Float32, Float64, Int32
from wordgeom.drift.contrasts import GROUP_SIZE, Contrasts, Moments, float32_contrasts
from wordgeom.drift.mixture_test import mixture
from wordgeom.drift.null_distribution import Null, compute_null, prepare_groups
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.statistics import WordResiduals
from wordgeom.drift.time_axis import Axis
from wordgeom.runtime.context import Context

AT_ONCE = 16 * GROUP_SIZE  # permutations
_WORDS = 64
_ROWS = 8192  # documents whose products are summed at once


def null(
    words: WordResiduals, axis: Axis, permutations: Permutations, hold: bool, context: Context,
    by_time: bool = False,
) -> Null:  # fmt: skip
    """Return F of w words under permutations of document codes; by_time: of time codes."""
    prepare = partial(_Block, words, axis, hold, context, by_time)
    return compute_null(
        permutations, AT_ONCE, prepare, words, axis.degree, _WORDS, context, "documents"
    )


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


class _Block:
    """A block of permutations, prepared for all words."""

    def __init__(
        self, words: WordResiduals, axis: Axis, hold: bool, context: Context, by_time: bool,
        codes: Int32,
    ) -> None:  # fmt: skip
        n, self._words, self._q = len(words.Z), words, axis.degree
        codes = codes[:, axis.codes] if by_time else codes

        def prepared(at: int) -> tuple[Contrasts, Float64, Float32]:
            moments = _moments(codes[at : at + GROUP_SIZE], words.Z, axis.levels)
            first = moments.first.astype(np.float32)
            return float32_contrasts(moments, n, hold), mixture(moments), first

        groups = prepare_groups(prepared, range(0, len(codes), GROUP_SIZE), context)
        self.contrasts = [found for found, _, _ in groups]
        self.mixture = np.concatenate([value for _, value, _ in groups])
        self._first = [first for _, _, first in groups]
        self._Z = words.Z.astype(np.float32)
        # (n × b q): the polynomials of a document under all permutations are contiguous.
        self._values = axis.levels.astype(np.float32)[codes.T].reshape(n, -1)

    def products(self, words: slice) -> Iterator[Float32]:
        """Yield Rᵀdiag(g_k)Z (b × q × w × r+1) of a slice of words, by group of b permutations."""
        products, at = self._sums(words), 0
        sides = self._words.sides[:, words].T.astype(np.float32)
        for first in self._first:
            yield products[:, at : at + len(first)].transpose(1, 2, 0, 3) - sides @ first
            at += len(first)

    def _sums(self, words: slice) -> Float32:
        """Return x_jᵀdiag(g_k)Z (w × b × q × r+1) of a slice of words."""
        columns = self._words.columns.block(words.start, words.stop)
        width, q = self._Z.shape[1], self._q
        out = np.empty((columns.rows, self._values.shape[1], width), np.float32)
        for j in range(columns.rows):
            part = slice(columns.indptr[j], columns.indptr[j + 1])
            documents = columns.indices[part]
            rows = self._Z.take(documents, axis=0)
            rows *= columns.data[part, None]
            np.matmul(self._values.take(documents, axis=0).T, rows, out=out[j])
        return out.reshape(columns.rows, -1, q, width)
