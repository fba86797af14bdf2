"""Logistic loss of each row of a sparse matrix of counts, the other factor being fixed.

For row i, with counts C_ij on a pattern P, expected counts a_i b_j of all pairs and the rows u_j of
the other factor U (m × K), the loss of x is

    Σ_{j in P_i} C_ij s(−x·u_j − β) + Σ_j a_i b_j q(x·u_j + β) + λ_i ‖x‖²,

where β is a constant, s(t) = log(1 + eᵗ), and q ≥ s is the quadratic that touches s at ±x₀, x₀ =
max(1, |β|): q(t) = h(x₀)(t² − x₀²) + (t − x₀)/2 + s(x₀), h(t) = tanh(t/2)/4t (Jaakkola and Jordan
2000). The pairs of P are bounded likewise where x starts. The minimiser of this bound solves

    (Σ h_ij C_ij u_j u_jᵀ + a_i h(x₀) M + λ_i I) x
        = Σ (1/4 − h_ij β) C_ij u_j − a_i (1/4 + h(x₀) β) m,

with M = Σ b_j u_j u_jᵀ and m = Σ b_j u_j, so that the loss cannot rise. M is the same for all rows:
in its eigenvectors, the last two terms of each system are diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.ops import LogisticSolver, Ops, SharedDiagonal, Tall
from wordgeom.core.types import Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.row_solver import MAX_STEPS


@dataclass(frozen=True)
class Expected:
    """Expected counts a_i b_j of all pairs: rows a (V), columns b (m); ridges λ (V); shift β."""

    rows: Float64
    columns: Float64
    ridges: Float64
    shift: float = 0.0

    @property
    def touching(self) -> float:
        """x₀."""
        return max(1.0, abs(self.shift))

    @property
    def constant(self) -> float:
        """The part of the loss of all rows that depends on no vector."""
        at_zero = float(self.bound(np.zeros(1))[0])
        return at_zero * float(self.rows.sum()) * float(self.columns.sum())

    def bound(self, products: Float64) -> Float64:
        """Return q(x·u + β) of inner products x·u."""
        t, x0 = products + self.shift, self.touching
        return curvature(x0) * (t * t - x0 * x0) + (t - x0) / 2.0 + softplus(x0)


@dataclass(frozen=True)
class Improved:
    """The vectors (V × K) that minimise the bounds, and the loss of the vectors before.

    steps: conjugate-gradient steps of all rows; missed: rows that did not reach the tolerance.
    """

    solution: Tall
    loss: float
    steps: int
    missed: int


def improve_rows(
    solver: LogisticSolver, other: Tall, start: Tall, expected: Expected, tol: float, ops: Ops,
    most: int = MAX_STEPS, expect: bool = False,
) -> Improved:  # fmt: skip
    """Return the minimiser of each row's bound, which touches the loss at start (V × K).

    other (m × K) is fixed; most: 0 computes the loss alone; expect: the bound of a counted pair
    touches the loss at log(C_ij / a_i b_j), which suits a bad start. Raises RankError where neither
    a row of `other` nor a ridge holds a direction.
    """
    M, m = ops.moments(other, expected.columns)
    h = curvature(expected.touching)
    with one_thread():
        values, Q = np.linalg.eigh((M + M.T) / 2.0)
        pull = Q.T @ m * (0.25 + h * expected.shift)
    shared = SharedDiagonal(
        expected.rows, expected.columns, h * np.maximum(values, 0.0), pull, expected.ridges,
        expected.shift, expect,
    )  # fmt: skip
    if shared.lowest <= 0.0:
        raise RankError("a least-squares system is singular", do="raise --shrinkage or lower --dim")
    found = solver.solve(ops.combine(other, Q), ops.combine(start, Q), shared, tol, most)
    loss = float(found.losses.sum()) + expected.constant
    return Improved(ops.combine(found.solution, Q.T), loss, found.steps, found.missed)


def curvature(t: float) -> float:
    """Return h(t) = tanh(t/2) / 4t, the curvature of the quadratic that touches s at ±t."""
    return 0.125 if t == 0.0 else float(np.tanh(t / 2.0) / (4.0 * t))


def softplus(t: float) -> float:
    """Return s(t) = log(1 + eᵗ)."""
    return float(np.logaddexp(0.0, t))
