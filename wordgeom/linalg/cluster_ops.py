"""The primitives in NumPy, with large sparse products and row problems on a cluster.

A row of either depends on that row alone, so that the bytes are those of NumpyOps. Small ones are
computed here: to share their factor would take longer.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from wordgeom.core.ops import RowSolutions
from wordgeom.core.types import Array, Csr
from wordgeom.linalg import kernels, row_solver_kernels
from wordgeom.linalg.numpy_ops import NumpyOps, SparseOperator, SparseRows
from wordgeom.linalg.row_work import gathered_rows
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.scheduler import Result, Scheduler, Shared

WORTH = 1 << 28  # multiplications of one column, from which a product is worth its messages
# Tasks, at least and per thread of the cluster, so that all threads end at about the same time.
_TASKS, _PER_THREAD = 32, 4
_Blocks = tuple[tuple[int, int], ...]  # consecutive blocks of rows [start:stop)


class ClusterOps(NumpyOps):
    """Linear algebra on the CPU, in blocks on the pool and on a cluster."""

    def __init__(self, pool: Pool, scheduler: Scheduler) -> None:
        super().__init__(pool)
        self._scheduler = scheduler

    def operator(self, sparse: Csr) -> ClusterOperator:
        """Return a sparse matrix as an operator, written to the shared folder when it is used."""
        return ClusterOperator(sparse, self._pool, self._scheduler)

    def row_solver(self, targets: Csr, weights: Array) -> ClusterRows:
        """Return a solver of the weighted least squares of all rows."""
        return ClusterRows(targets, weights, self._pool, self._scheduler)


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

    def multiply(self, tall: Array) -> Array:
        """Return the matrix times `tall` (m × k), (V × k), in the dtype of `tall`."""
        if self._sparse.nnz * tall.shape[1] < WORTH:
            return super().multiply(tall)
        scheduler = self._scheduler
        if not self._matrix:
            parts = self._splits, self._sparse.indices, self._sparse.data
            self._matrix = _shared(self, scheduler, *parts)
        right = scheduler.share(tall)
        out = np.empty((self._sparse.rows, tall.shape[1]), tall.dtype)
        tasks = _tasks(self._blocks, scheduler)
        done = scheduler.map(_multiply, tasks, _Product(self._matrix, right))
        for task, result in zip(tasks, done, strict=True):
            out[_rows(task)] = result["product"]
        scheduler.release(right)
        return out


def _multiply(blocks: _Blocks, spec: _Product) -> Result:
    """Return the rows of a product."""
    rows, right = _rows(blocks), spec.right.open()
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
        if self._targets.nnz * other.shape[1] < WORTH:
            return super().solve(other, start, tol, most)
        at, scheduler = self._targets, self._scheduler
        if not self._pattern:
            parts = at.indptr, at.indices, at.data, self._weights
            self._pattern = _shared(self, scheduler, *parts)
        factors = scheduler.share(other), scheduler.share(start)
        gains, steps = np.empty(at.rows), np.empty(at.rows, np.int32)
        tasks = _tasks(self._blocks, scheduler)
        done = scheduler.map(_solve, tasks, _Problems(self._pattern, *factors, tol, most))
        for task, result in zip(tasks, done, strict=True):
            rows = _rows(task)
            start[rows], gains[rows], steps[rows] = (
                result[name] for name in ("solution", "gains", "steps")
            )
        scheduler.release(*factors)
        return RowSolutions(start, gains, int(steps.sum()), int(np.count_nonzero(steps == most)))


def _solve(blocks: _Blocks, spec: _Problems) -> Result:
    """Return the solutions of some rows, with their gains and steps."""
    rows, other = _rows(blocks), spec.other.open()
    indptr, indices, targets, weights = (part.open() for part in spec.pattern)
    solution = np.array(spec.start.open()[rows])
    gains, steps = np.empty(len(solution)), np.empty(len(solution), np.int32)
    row_solver_kernels.solve_rows(
        indptr[rows.start : rows.stop + 1], indices, targets, weights, other, 0, len(solution),
        other.dtype.type(spec.tol), spec.most, gathered_rows(other),
        solution, gains, steps,
    )  # fmt: skip
    return {"solution": solution, "gains": gains, "steps": steps}


def _shared(owner: object, scheduler: Scheduler, *arrays: Array) -> tuple[Shared, ...]:
    """Share arrays as long as their owner lives."""
    shared = tuple(scheduler.share(array) for array in arrays)
    weakref.finalize(owner, scheduler.release, *shared)
    return shared


def _tasks(blocks: list[tuple[int, int]], scheduler: Scheduler) -> list[_Blocks]:
    """Group consecutive blocks into tasks of about the same number of blocks."""
    tasks = min(len(blocks), max(_TASKS, _PER_THREAD * scheduler.threads))
    bounds = [len(blocks) * k // tasks for k in range(tasks + 1)]
    return [tuple(blocks[a:b]) for a, b in pairwise(bounds)]


def _rows(blocks: _Blocks) -> slice:
    """Return the rows of consecutive blocks."""
    return slice(blocks[0][0], blocks[-1][1])
