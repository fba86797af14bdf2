"""F under permutations of residuals, which keep the documents' mixture of topics at their times.

Freedman and Lane (1983) permute the rows of the residuals R of words on the reduced model Z =
[1, U] (and f if the trend is held), and recompute what [Z, Q] explains of them; Q are the columns
of change. Permuting the rows of [Z, Q] is equivalent and does not form R:
[Z, Q]πᵀR = [Z, Q]πᵀX − ([Z, Q]πᵀZ) ZᵀX. The test is approximate, because residuals are not exactly
exchangeable and the topics must capture the mixture. It is the slowest test: each permutation needs
a sparse product with all columns of [Z, Q].
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from wordgeom.core.types import Array, Float32, Float64
from wordgeom.drift.contrasts import f_values, tested_columns
from wordgeom.drift.null_distribution import Null
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.statistics import WordResiduals, products
from wordgeom.drift.time_axis import Axis
from wordgeom.runtime.context import Context

_WORDS = 1024


def null(
    words: WordResiduals, axis: Axis, permutations: Permutations, hold: bool, context: Context
) -> Null:
    """Return F of w words under permutations of n rows; the mixture statistic is NaN."""
    null = Null.empty(permutations.count, len(words))
    task = _Task(words, axis, hold, context)
    rows = (row for block in permutations.blocks(1) for row in block)
    done = (task.fill(row, F) for row, F in zip(rows, null.F, strict=True))
    label = "permutations of residuals"
    for _ in context.progress.follow(done, label, len(null.F), "permutations", int):
        pass
    return null


class _Task:
    """Residuals of words on the reduced model, permuted one permutation at a time."""

    def __init__(self, words: WordResiduals, axis: Axis, hold: bool, context: Context) -> None:
        ops, values, self._q = context.ops, axis.values(), axis.degree
        reduced = np.hstack([words.Z, values]) if hold else words.Z
        change = [values[:, k, None] * words.Z[:, tested_columns(hold)] for k in range(self._q)]
        both = np.linalg.qr(np.hstack([reduced, *change]))[0]
        self._held = reduced.shape[1]
        self._both = both.astype(np.float32)
        self._reduced = ops.tall(both[:, : self._held], np.float32)
        sides = products(words.columns, both[:, : self._held], ops).T
        self._sides = sides.T.astype(np.float32)
        self._squares = words.norms - np.einsum("zw,zw->w", sides, sides)
        self._words, self._ops, self._pool = words, ops, context.pool
        columns, data = words.columns, words.columns.data.astype(np.float32, copy=False)
        self._operator = ops.operator(replace(columns, data=data))

    def fill(self, row: Array, F: Float32) -> int:
        """Set F (w) for residuals in the order `row` (n); return 1, the number of permutations."""
        tall = self._ops.tall(self._both[row], np.float32)
        products: Float32 = self._ops.to_numpy(self._operator.multiply(tall))
        across = self._ops.inner(self._reduced, tall).astype(np.float32)
        blocks = [slice(start, start + _WORDS) for start in range(0, len(F), _WORDS)]
        found = self._pool.map(lambda at: self._values(products[at], across, at), blocks)
        for block, values in zip(blocks, found, strict=True):
            F[block] = values
        return 1

    def _values(self, products: Float32, across: Float32, block: slice) -> Float64:
        """Return F (w) of words whose `products` with the permuted [Z, Q] are given (w × d)."""
        centred = products - self._sides[block] @ across
        held, change = centred[:, : self._held], centred[:, self._held :]
        residuals = self._words.of(block, self._q)
        before = self._squares[block] - np.einsum("wd,wd->w", held, held)
        return f_values(np.einsum("wd,wd->w", change, change), before, change.shape[1], residuals)
