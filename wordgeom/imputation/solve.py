"""Solve for the vectors of unknown entities, given the anchors (Yao et al. 2019, §4.3).

(I − W_qq) Y_q = W_qp Y_p: each unknown vector is the weighted mean of its neighbours' vectors.
`solve_exact` solves the linear system. `solve_power` is the paper's power iteration, which stops
at a small change. That does not bound the error: if W_qq has an eigenvalue near 1, all steps are
small.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.types import Csr, Float64
from wordgeom.imputation.exact_solver import CONVERGED, ExactSolver
from wordgeom.imputation.linear_system import System, relative_residual
from wordgeom.linalg.numpy_ops import SparseOperator
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

_COLUMNS = 32  # columns the power iteration multiplies at once


@dataclass(frozen=True)
class Solution:
    """Vectors of the unknown entities, and how well they solve the equations.

    vectors (q × K); iterations: maximum over columns; residual: largest ‖b − (I − W_qq) y‖ / ‖b‖
    of a column, b = W_qp y_p, recomputed from the result; change: last relative l1 change, eq. 6
    (power iteration; else 0); solver: its name.
    """

    vectors: Float64
    iterations: int
    residual: float
    change: float
    converged: bool
    solver: str


def solve_exact(
    weights: Csr, known: NDArray[np.bool_], anchors: Float64, pool: Pool, progress: Progress
) -> Solution:
    """Return Y_q, with a target residual of 1e-12; converged means a residual ≤ 1e-10.

    weights (q × n): rows of the unknown entities, ascending, of sum 1, each connected to an anchor
    by positive weights (`reattachment.reattach`); known (n); anchors (p × K).
    """
    exact = ExactSolver(System.of(weights, known), anchors)
    solved = exact.solve(pool)
    for _ in progress.follow(solved, "solving", anchors.shape[1], "columns", lambda count: count):
        pass
    iterations, residual = int(exact.iterations.max()), float(exact.residuals.max())
    converged = residual <= CONVERGED
    return Solution(exact.vectors, iterations, residual, 0.0, converged, exact.solver)


def solve_power(
    weights: Csr,
    known: NDArray[np.bool_],
    anchors: Float64,
    eta: float,
    max_iterations: int,
    pool: Pool,
    progress: Progress,
) -> Solution:
    """Iterate Y_q ← W_qp Y_p + W_qq Y_q from the mean of Y_p; arguments as in `solve_exact`.

    Stops when ‖ΔY_q‖₁ < eta ‖Y_q‖₁ (eq. 6, elementwise norms) or after max_iterations.
    """
    system = System.of(weights, known)
    inner, outer = (SparseOperator(_csr(part), pool) for part in (system.inner, system.outer))
    right = outer.multiply(anchors)
    vectors = np.tile(anchors.mean(axis=0), (weights.rows, 1))
    iterations, change = 0, np.inf
    steps = _power_steps(inner, right, vectors, max_iterations)
    for change in progress.follow(steps, "power iteration", None, "iterations", lambda _: 1):
        iterations += 1
        if change < eta:
            break
    residual = relative_residual(right - vectors + inner.multiply(vectors), right)
    found = np.empty_like(vectors)
    found[system.order] = vectors
    return Solution(found, iterations, residual, change, change < eta, "power")


def _power_steps(
    inner: SparseOperator, right: Float64, vectors: Float64, most: int
) -> Iterator[float]:
    """Update the vectors (q × K) in place; yield the relative change after each iteration."""
    for _ in range(most):
        change = before = 0.0
        for start in range(0, vectors.shape[1], _COLUMNS):
            columns = slice(start, start + _COLUMNS)
            old = vectors[:, columns]
            new = inner.multiply(old) + right[:, columns]
            change += float(np.abs(new - old).sum())
            before += float(np.abs(old).sum())
            vectors[:, columns] = new
        yield change / before if before else (np.inf if change else 0.0)


def _csr(matrix: Any) -> Csr:
    """Return one of SciPy's CSR arrays as a sparse block."""
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return Csr(indptr, indices, matrix.data, matrix.shape[1])
