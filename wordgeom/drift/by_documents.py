"""F under arrangements of single documents' times, inside groups or among all.

For a word j with documents I_j, Wᵀx_j of all arrangements is one product of dense matrices, the
polynomials of I_j's times (b q × |I_j|) and x_ij z_i (|I_j| × r+1), which runs several times as
fast as a sparse product.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float32, Float64, Int32
from wordgeom.drift.contrasts import (
    FLOAT32_RIDGE,
    GROUP_SIZE,
    Contrasts,
    Moments,
    Residuals,
    contrasts,
    tested_columns,
    word_f_values,
)
from wordgeom.drift.mixture_test import mixture
from wordgeom.drift.null_distribution import NullDistribution, Runner
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.statistics import WordResiduals, degrees_of_freedom
from wordgeom.drift.time_axis import Axis

AT_ONCE = 16 * GROUP_SIZE  # arrangements
_WORDS = 64
_ROWS = 8192  # documents whose products are added up at once


def null(
    words: WordResiduals,
    axis: Axis,
    arrangements: Permutations,
    hold: bool,
    runner: Runner,
    whole: bool = False,
) -> NullDistribution:
    """Return F of w words under arrangements of the documents' codes; whole: of those of times."""
    found = NullDistribution.empty(arrangements.count, len(words))
    for start, block in enumerate(arrangements.blocks(AT_ONCE)):
        codes = block[:, axis.codes] if whole else block
        rows = slice(start * AT_ONCE, start * AT_ONCE + len(block))
        groups = [codes[at : at + GROUP_SIZE] for at in range(0, len(codes), GROUP_SIZE)]
        known = list(runner.pool.map(lambda g: _known(g, words.Z, axis.levels, hold), groups))
        found.mixture[rows] = np.concatenate([one.mixture for one in known])
        task = _Task(words, axis, codes, known, hold)
        F = found.F[rows]

        def work(block: slice, task: _Task = task, F: Float32 = F) -> None:
            task.fill(block, F[:, block])

        label = f"permutations {rows.start:,} to {rows.stop - 1:,} of documents"
        runner.over_words(work, len(words), _WORDS, label)
    return found


class _Known:
    """What words need of b arrangements: contrasts, first (b, q, r+1, r+1), the mixture (b)."""

    def __init__(self, moments: Moments, n: int, hold: bool) -> None:
        self.contrasts = contrasts(moments, n, hold, FLOAT32_RIDGE).single()
        self.first, self.mixture = moments.first.astype(np.float32), mixture(moments)


def _known(codes: Int32, Z: Float64, levels: Float64, hold: bool) -> _Known:
    """Return what words need of arrangements (b × n)."""
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
    moments = Moments(first.reshape(*shape, width), second.reshape(*shape, q, width))
    return _Known(moments, len(Z), hold)


class _Task:
    """Permutations that are known, for blocks of words."""

    def __init__(
        self, words: WordResiduals, axis: Axis, codes: Int32, known: list[_Known], hold: bool
    ) -> None:
        self._words, self._known, self._q = words, known, axis.degree
        self._Z = words.Z.astype(np.float32)
        # (n × b q): a document's polynomials in all arrangements lie together.
        values = axis.levels.astype(np.float32)[codes.T]
        self._values = values.reshape(len(words.Z), -1)
        n = len(words.Z)
        self._degrees = degrees_of_freedom(n, words.rank, self._q)
        self._tested = tested_columns(hold)

    def fill(self, block: slice, F: Float32) -> None:
        """Set F (b × w) of a block of w words."""
        products = self._products(block)
        sides = self._words.sides[:, block].T.astype(np.float32)
        rest, at = self._words.of(block, self._degrees), 0
        for known in self._known:
            rows = slice(at, at + len(known.first))
            found = products[:, rows].transpose(1, 2, 0, 3) - sides @ known.first
            F[rows] = self._values_of(found, known.contrasts, rest)
            at = rows.stop

    def _values_of(self, found: Float32, known: Contrasts, rest: Residuals) -> Float64:
        along = len(self._Z) ** 0.5 * found[:, :, :, 0].astype(np.float64)
        raw = np.concatenate([found[:, k, :, self._tested] for k in range(self._q)], axis=2)
        return word_f_values(known, raw, along, rest)

    def _products(self, block: slice) -> Float32:
        """Return x_jᵀdiag(g_k)Z (w × b × q × r+1) of a block of words."""
        columns = self._words.columns.block(block.start, block.stop)
        width, q = self._Z.shape[1], self._q
        out = np.empty((columns.rows, self._values.shape[1], width), np.float32)
        for j in range(columns.rows):
            part = slice(columns.indptr[j], columns.indptr[j + 1])
            documents = columns.indices[part]
            lines = self._Z.take(documents, axis=0)
            lines *= columns.data[part, None]
            np.matmul(self._values.take(documents, axis=0).T, lines, out=out[j])
        return out.reshape(columns.rows, -1, q, width)
