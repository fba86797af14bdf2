"""Weighted least squares of each row of a sparse matrix, the other factor being fixed.

For row i, with g_ij and c_ij on a pattern P and the rows u_j of the other factor U (m × K), the
minimiser x of

    Σ_{j in P_i} c_ij (g_ij − x·u_j)² + background Σ_j (x·u_j)² + ridge ‖x‖²

solves (Σ c_ij u_j u_jᵀ + B) x = Σ c_ij g_ij u_j, where B = background UᵀU + ridge I is the same for
all rows. In the coordinates o = L⁻¹u, B = L Lᵀ, the system of a row differs from the identity in
few directions. Conjugate gradients then converge in 5 steps to 1e-3, in 7 to 1e-5
(docs/methods/gbu.md). A factorisation would take K³/3 operations for each row, and K² for each
entry to form its matrix.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.ops import Ops, RowSolutions, RowSolver, Tall
from wordgeom.core.types import Array, Csr, Float64
from wordgeom.linalg.blas import one_thread

MAX_STEPS = 200  # exact for K ≤ 200; larger systems were not observed to need more


@dataclass(frozen=True)
class Penalty:
    """The weights that all rows share: of every u_j (background) and of ‖x‖² (ridge)."""

    background: float
    ridge: float


def solve_rows(
    solver: RowSolver, other: Tall, start: Tall, held: Penalty, tol: float, ops: Ops
) -> RowSolutions:
    """Return the minimiser of each row for a fixed `other` (m × K), iterating from start (V × K).

    Raises RankError where background and ridge leave a direction without weight.
    """
    B = held.background * ops.inner(other, other)
    B[np.diag_indices_from(B)] += held.ridge
    lower, inverse = _factor(B)  # (K × K) L, L⁻¹
    # Rows: o = L⁻¹u is uᵀL⁻ᵀ, x' = Lᵀx is xᵀL, and back xᵀ = x'ᵀL⁻¹.
    found = solver.solve(ops.combine(other, inverse.T), ops.combine(start, lower), tol, MAX_STEPS)
    return replace(found, solution=ops.combine(found.solution, inverse))


def zero_objective(targets: Csr, weights: Array) -> float:
    """Return Σ c_ij g_ij², the objective at vectors that are all 0."""
    step, total = 1 << 18, 0.0
    for start in range(0, targets.nnz, step):
        part = slice(start, start + step)
        wide = targets.data[part].astype(np.float64)
        total += float(
            np.sum(wide * wide * weights[part])
        )  # not BLAS: its order depends on threads
    return total


def _factor(B: Float64) -> tuple[Float64, Float64]:
    try:
        with one_thread():
            lower = np.linalg.cholesky(B)
            inverse = np.linalg.inv(lower)
        return np.asarray(lower, np.float64), np.asarray(inverse, np.float64)
    except np.linalg.LinAlgError:
        raise RankError(
            "a least-squares system is singular", do="raise --ridge or lower --dim"
        ) from None
