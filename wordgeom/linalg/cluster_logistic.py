"""Logistic loss of rows on a cluster, in blocks of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.ops import LogisticSolutions, SharedDiagonal
from wordgeom.core.types import Array, Csr
from wordgeom.linalg import cluster_tasks
from wordgeom.linalg.cluster_tasks import Blocks, grouped, rows_of, share_with
from wordgeom.linalg.logistic_row_kernels import solve_logistic_rows
from wordgeom.linalg.numpy_logistic import LogisticRows
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.scheduler import Result, Scheduler, Shared, share_all


@dataclass(frozen=True)
class _Bounds:
    """The row problems of a half sweep.

    pattern: indptr, indices and counts; factors: the fixed one (m × K), and the start (V × K);
    shared: loads (V), columns (m), diagonal and pull (K), ridges (V) of SharedDiagonal.
    """

    pattern: tuple[Shared, ...]
    factors: tuple[Shared, ...]
    shared: tuple[Shared, ...]
    shift: float
    expect: bool
    tol: float
    most: int


class ClusterLogisticRows(LogisticRows):
    """Minimises a bound of the logistic loss of each row of counts, on a cluster."""

    def __init__(self, counts: Csr, pool: Pool, scheduler: Scheduler) -> None:
        super().__init__(counts, pool)
        self._scheduler, self._pattern = scheduler, tuple[Shared, ...]()

    def solve(
        self, other: Array, start: Array, shared: SharedDiagonal, tol: float, most: int
    ) -> LogisticSolutions:
        """Solve to residuals of tol ‖right side‖, in place in `start` (V × K)."""
        if self._counts.nnz * other.shape[1] < cluster_tasks.WORTH:
            return super().solve(other, start, shared, tol, most)
        at = self._counts
        if not self._pattern:
            self._pattern = share_with(self, self._scheduler, at.indptr, at.indices, at.data)
        factors = share_all(self._scheduler, other, start)
        parts = share_all(
            self._scheduler,
            shared.loads, shared.columns, shared.diagonal, shared.pull, shared.ridges,
        )  # fmt: skip
        spec = _Bounds(self._pattern, factors, parts, shared.shift, shared.expect, tol, most)
        losses, steps = np.empty(at.rows), np.empty(at.rows, np.int32)
        tasks = grouped(self._blocks, self._scheduler)
        done = self._scheduler.map(_solve, tasks, spec)
        for task, result in zip(tasks, done, strict=True):
            rows = rows_of(task)
            start[rows], losses[rows], steps[rows] = (
                result[name] for name in ("solution", "losses", "steps")
            )
        self._scheduler.release(*factors, *parts)
        return self._solutions(start, losses, steps, most)


def _solve(blocks: Blocks, spec: _Bounds) -> Result:
    """Return the solutions of some rows, with their losses and steps."""
    rows, (other, start) = rows_of(blocks), (factor.open() for factor in spec.factors)
    indptr, indices, counts = (part.open() for part in spec.pattern)
    loads, columns, diagonal, pull, ridges = (part.open() for part in spec.shared)
    solution, kind = np.array(start[rows]), other.dtype.type
    losses, steps = np.empty(len(solution)), np.empty(len(solution), np.int32)
    solve_logistic_rows(
        indptr[rows.start : rows.stop + 1], indices, counts, other, loads[rows], columns, diagonal,
        pull, ridges[rows], kind(spec.shift), spec.expect, 0, len(solution), kind(spec.tol),
        spec.most, solution, losses, steps,
    )  # fmt: skip
    return {"solution": solution, "losses": losses, "steps": steps}
