"""F under permutations of residuals, which keep the documents' mixture of topics at their times.

Freedman and Lane (1983) permute the rows of the residuals R of words on the reduced model Z =
[1, U] (and f if the trend is held), and recompute what [Z, Q] explains of them; Q are the columns
of change. Permuting the rows of [Z, Q] is equivalent and does not form R:
[Z, Q]πᵀR = [Z, Q]πᵀX − ([Z, Q]πᵀZ) ZᵀX. The test is approximate, because residuals are not exactly
exchangeable and the topics must capture the mixture. It is the slowest test: each permutation needs
a sparse product with all columns of [Z, Q].
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Csr, Float32, Float64
from wordgeom.drift.contrasts import f_values, tested_columns
from wordgeom.drift.null_distribution import Null, Runner
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.statistics import WordResiduals, degrees_of_freedom, products
from wordgeom.drift.time_axis import Axis

_WORDS = 1024


def null(
    words: WordResiduals, axis: Axis, permutations: Permutations, hold: bool, ops: Ops,
    runner: Runner,
) -> Null:  # fmt: skip
    """Return F of w words under permutations of n rows; the mixture statistic is NaN."""
    null = Null.empty(permutations.count, len(words))
    task = _Task(words, axis, hold, ops, runner)
    rows = (row for block in permutations.blocks(1) for row in block)
    done = (task.fill(row, F) for row, F in zip(rows, null.F, strict=True))
    for _ in runner.follow(done, "permutations of residuals", len(null.F), "permutations"):
        pass
    return null


class _Task:
    """Residuals of words on the reduced model, permuted one permutation at a time."""

    def __init__(
        self, words: WordResiduals, axis: Axis, hold: bool, ops: Ops, runner: Runner
    ) -> None:
        n, q = len(words.Z), axis.degree
        values = axis.values()
        reduced = np.hstack([words.Z, values]) if hold else words.Z
        change = [values[:, k, None] * words.Z[:, tested_columns(hold)] for k in range(q)]
        both = np.linalg.qr(np.hstack([reduced, *change]))[0]
        self._held = reduced.shape[1]
        self._both = both.astype(np.float32)
        self._reduced = ops.tall(both[:, : self._held], np.float32)
        sides = products(words.columns, both[:, : self._held], ops).T
        self._sides = sides.T.astype(np.float32)
        self._squares = words.norms - np.einsum("zw,zw->w", sides, sides)
        self._words, self._ops, self._pool = words, ops, runner.pool
        self._degrees = degrees_of_freedom(n, words.rank, q)
        self._operator = ops.operator(_single(words.columns))

    def fill(self, row: Array, F: Float32) -> int:
        """Set F (w) for residuals in the order `row` (n); return 1, the number of permutations."""
        tall = self._ops.tall(self._both[row], np.float32)
        products: Float32 = self._ops.to_numpy(self._operator.multiply(tall))
        across = self._ops.inner(self._reduced, tall).astype(np.float32)
        starts = range(0, len(F), _WORDS)
        blocks = [slice(start, min(start + _WORDS, len(F))) for start in starts]
        for block, values in zip(
            blocks,
            self._pool.map(lambda at: self._values(products[at], across, at), blocks),
            strict=True,
        ):
            F[block] = values
        return 1

    def _values(self, products: Float32, across: Float32, block: slice) -> Float64:
        """Return F (w) of words whose `products` with the permuted [Z, Q] are given (w × d)."""
        centred = products - self._sides[block] @ across
        held, change = centred[:, : self._held], centred[:, self._held :]
        residuals = self._words.of(block, self._degrees)
        before = self._squares[block] - np.einsum("wd,wd->w", held, held)
        return f_values(np.einsum("wd,wd->w", change, change), before, change.shape[1], residuals)


def _single(columns: Csr) -> Csr:
    """Return the matrix in float32."""
    data = columns.data.astype(np.float32, copy=False)
    return Csr(columns.indptr, columns.indices, data, columns.columns)
