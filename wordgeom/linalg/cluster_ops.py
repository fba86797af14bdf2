"""The primitives in NumPy, with large sparse products and row problems on a cluster.

A row of either depends on that row alone, so that the bytes are those of NumpyOps. Small ones are
computed here: to share their factor would take longer.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.ops import RowSolutions
from wordgeom.core.types import Array, Csr
from wordgeom.linalg import cluster_tasks, kernels, row_solver_kernels
from wordgeom.linalg.cluster_logistic import ClusterLogisticRows
from wordgeom.linalg.cluster_tasks import Blocks, grouped, rows_of, share_with
from wordgeom.linalg.numpy_ops import NumpyOps, SparseOperator, SparseRows
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.scheduler import Result, Scheduler, Shared, share_all


class ClusterOps(NumpyOps):
    """Linear algebra on the CPU, in blocks on the pool and on a cluster."""

    def __init__(self, pool: Pool, scheduler: Scheduler) -> None:
        super().__init__(pool)
        self._scheduler = scheduler

    def operator(self, sparse: Csr) -> ClusterOperator:
        """Return a sparse matrix as an operator, which a cluster sees if it is reused."""
        return ClusterOperator(sparse, self._pool, self._scheduler)

    def row_solver(self, targets: Csr, weights: Array) -> ClusterRows:
        """Return a solver of the weighted least squares of all rows."""
        return ClusterRows(targets, weights, self._pool, self._scheduler)

    def logistic_solver(self, counts: Csr) -> ClusterLogisticRows:
        """Return a solver of the logistic loss of all rows."""
        return ClusterLogisticRows(counts, self._pool, self._scheduler)


@dataclass(frozen=True)
class _Product:
    """A sparse matrix, as splits (tiles + 1 × V), indices and data, and the right side (m × k)."""

    matrix: tuple[Shared, ...]
    right: Shared


class ClusterOperator(SparseOperator):
    """A sparse matrix (V × m) whose products a cluster computes in blocks of rows."""

    def __init__(self, sparse: Csr, pool: Pool, scheduler: Scheduler) -> None:
        super().__init__(sparse, pool)
        self._scheduler, self._matrix = scheduler, tuple[Shared, ...]()
        self._products = 0

    def multiply(self, tall: Array) -> Array:
        """Return the matrix times `tall` (m × k), (V × k), in the dtype of `tall`."""
        self._products += 1
        small = self._sparse.nnz * tall.shape[1] < cluster_tasks.WORTH
        if small or self._products <= cluster_tasks.LOCAL_PRODUCTS:
            return super().multiply(tall)
        scheduler = self._scheduler
        if not self._matrix:
            parts = self._splits, self._sparse.indices, self._sparse.data
            self._matrix = share_with(self, scheduler, *parts)
        right = scheduler.share(tall)
        out = np.empty((self._sparse.rows, tall.shape[1]), tall.dtype)
        tasks = grouped(self._blocks, scheduler)
        done = scheduler.map(_multiply, tasks, _Product(self._matrix, right))
        for task, result in zip(tasks, done, strict=True):
            out[rows_of(task)] = result["product"]
        scheduler.release(right)
        return out


def _multiply(blocks: Blocks, spec: _Product) -> Result:
    """Return the rows of a product."""
    rows, right = rows_of(blocks), spec.right.open()
    splits, indices, data = (part.open() for part in spec.matrix)
    splits = np.ascontiguousarray(splits[:, rows])
    out = np.empty((rows.stop - rows.start, right.shape[1]), right.dtype)
    for start, stop in blocks:
        kernels.multiply_rows(
            splits, indices, data, right, start - rows.start, stop - rows.start, out
        )  # fmt: skip
    return {"product": out}


@dataclass(frozen=True)
class _Problems:
    """The row problems of a half sweep.

    pattern: indptr, indices, targets and weights; other (m × K): the fixed factor; start (V × K).
    """

    pattern: tuple[Shared, ...]
    other: Shared
    start: Shared
    tol: float
    most: int


class ClusterRows(SparseRows):
    """Weighted least squares of the rows of a pattern, on a cluster in blocks of rows."""

    def __init__(self, targets: Csr, weights: Array, pool: Pool, scheduler: Scheduler) -> None:
        super().__init__(targets, weights, pool)
        self._scheduler, self._pattern = scheduler, tuple[Shared, ...]()

    def solve(self, other: Array, start: Array, tol: float, most: int) -> RowSolutions:
        """Solve to residuals of tol ‖right side‖, in place in `start` (V × K)."""
        if self._targets.nnz * other.shape[1] < cluster_tasks.WORTH:
            return super().solve(other, start, tol, most)
        at, scheduler = self._targets, self._scheduler
        if not self._pattern:
            parts = at.indptr, at.indices, at.data, self._weights
            self._pattern = share_with(self, scheduler, *parts)
        fixed, begin = share_all(scheduler, other, start)
        gains, steps = np.empty(at.rows), np.empty(at.rows, np.int32)
        tasks = grouped(self._blocks, scheduler)
        done = scheduler.map(_solve, tasks, _Problems(self._pattern, fixed, begin, tol, most))
        for task, result in zip(tasks, done, strict=True):
            rows = rows_of(task)
            start[rows], gains[rows], steps[rows] = (
                result[name] for name in ("solution", "gains", "steps")
            )
        scheduler.release(fixed, begin)
        return RowSolutions(start, gains, int(steps.sum()), int(np.count_nonzero(steps == most)))


def _solve(blocks: Blocks, spec: _Problems) -> Result:
    """Return the solutions of some rows, with their gains and steps."""
    rows, other = rows_of(blocks), spec.other.open()
    indptr, indices, targets, weights = (part.open() for part in spec.pattern)
    solution = np.array(spec.start.open()[rows])
    gains, steps = np.empty(len(solution)), np.empty(len(solution), np.int32)
    row_solver_kernels.solve_rows(
        indptr[rows.start : rows.stop + 1], indices, targets, weights, other, 0, len(solution),
        other.dtype.type(spec.tol), spec.most, solution, gains, steps,
    )  # fmt: skip
    return {"solution": solution, "gains": gains, "steps": steps}
