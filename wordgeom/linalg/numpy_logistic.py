"""Logistic loss of rows on the CPU, in blocks of rows on the pool."""

from __future__ import annotations

import numpy as np

from wordgeom.core.ops import LogisticSolutions, SharedDiagonal
from wordgeom.core.types import Array, Csr, Float64, Int32
from wordgeom.linalg import logistic_row_kernels
from wordgeom.linalg.row_work import solver_blocks
from wordgeom.runtime.pool import Pool


class LogisticRows:
    """Minimises a bound of the logistic loss of each row of counts (ops.LogisticSolver).

    The solution of a row depends on that row alone, not on the blocks.
    """

    def __init__(self, counts: Csr, pool: Pool) -> None:
        self._counts, self._pool = counts, pool
        self._blocks = solver_blocks(counts.indptr)

    def solve(
        self, other: Array, start: Array, shared: SharedDiagonal, tol: float, most: int
    ) -> LogisticSolutions:
        """Solve to residuals of tol ‖right side‖, in place in `start` (V × K)."""
        V, at, kind = self._counts.rows, self._counts, other.dtype.type
        losses, steps = np.empty(V), np.empty(V, np.int32)

        def run(rows: tuple[int, int]) -> None:
            logistic_row_kernels.solve_logistic_rows(
                at.indptr, at.indices, at.data, other, shared.loads, shared.columns,
                shared.diagonal, shared.pull, shared.ridges, kind(shared.shift), shared.expect,
                *rows, kind(tol), most, start, losses, steps,
            )  # fmt: skip

        for _ in self._pool.map(run, self._blocks):
            pass
        return self._solutions(start, losses, steps, most)

    def _solutions(
        self, solution: Array, losses: Float64, steps: Int32, most: int
    ) -> LogisticSolutions:
        missed = int(np.count_nonzero(steps == most)) if most else 0
        return LogisticSolutions(solution, losses, int(steps.sum()), missed)
