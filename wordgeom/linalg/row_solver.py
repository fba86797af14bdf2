"""Weighted least squares for each row of a sparse matrix, the other factor being held.

For row i, with g_ij and c_ij on a pattern P and u_j the rows of the other factor U (m × K), the
minimum over x of

    Σ_{j in P_i} c_ij (g_ij − x·u_j)² + background Σ_j (x·u_j)² + ridge ‖x‖²

solves (Σ c_ij u_j u_jᵀ + B) x = Σ c_ij g_ij u_j with B = background UᵀU + ridge I, one B for all
rows. In the coordinates o = L⁻¹u, with B = L Lᵀ, B is the identity and few directions are left in
which a row's system is not: conjugate gradients end after 5 steps at 1e-3, 7 at 1e-5
(docs/methods/gbu.md), where a factorisation takes K³/3 operations for each row and its matrix K²
for each entry.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.ops import Ops, RowSolutions, RowSolver, Tall
from wordgeom.core.types import Array, Csr, Float64
from wordgeom.linalg.blas import one_thread

MAX_STEPS = 200  # more than any system of rank K ≤ 200 needs, and than others were seen to take


@dataclass(frozen=True)
class Penalty:
    """What is the same for all rows: how much every u_j counts, and ‖x‖²."""

    background: float
    ridge: float


def solve_rows(
    solver: RowSolver, other: Tall, start: Tall, held: Penalty, tol: float, ops: Ops
) -> RowSolutions:
    """Return each row's minimum, other (m × K) being held; start: (V × K), where to begin.

    Raises RankError where background and ridge leave a direction without weight.
    """
    B = held.background * ops.inner(other, other)
    B[np.diag_indices_from(B)] += held.ridge
    lower, inverse = _factor(B)  # (K × K) L, L⁻¹
    # Rows: o = L⁻¹u is uᵀL⁻ᵀ, x' = Lᵀx is xᵀL, and back xᵀ = x'ᵀL⁻¹.
    found = solver.solve(ops.combine(other, inverse.T), ops.combine(start, lower), tol, MAX_STEPS)
    return replace(found, solution=ops.combine(found.solution, inverse))


def zero_objective(targets: Csr, weights: Array) -> float:
    """Return Σ c_ij g_ij², the objective of vectors that are all 0."""
    step, total = 1 << 18, 0.0
    for start in range(0, targets.nnz, step):
        part = slice(start, start + step)
        wide = targets.data[part].astype(np.float64)
        total += float(np.sum(wide * wide * weights[part]))  # no BLAS, which adds as it has threads
    return total


def _factor(B: Float64) -> tuple[Float64, Float64]:
    try:
        with one_thread():
            lower = np.linalg.cholesky(B)
            inverse = np.linalg.inv(lower)
        return np.asarray(lower, np.float64), np.asarray(inverse, np.float64)
    except np.linalg.LinAlgError:
        raise RankError(
            "a direction of the vectors has no weight", do="raise --ridge or lower --dim"
        ) from None
