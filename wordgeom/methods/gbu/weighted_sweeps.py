"""Weighted sweeps: alternating least squares, with each pair weighted by its co-occurrence count.

On the observed pairs P = {C_ij > 0}, with g_ij the PMI value (0 where clipped, still in P) and
c_ij = min(1, (C_ij / x_max)^α), the objective is

    Σ_P c_ij (g_ij − v_i·u_j)² + c₀ Σ_all (v_i·u_j)² + λ (‖V‖² + ‖U‖²).

It is minimised over U for fixed V, then over V for fixed U, each row to a relative tolerance
(linalg/row_solver.py). G is symmetric, so both halves read the same rows. The objective is related
to GloVe's (Pennington, Socher and Manning 2014, eq. 8) and to weighted matrix factorisation (Hu,
Koren and Volinsky 2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wordgeom.core.ops import Ops, RowSolver, Tall
from wordgeom.core.types import Csr, Float32
from wordgeom.linalg.row_solver import Penalty, solve_rows, zero_objective
from wordgeom.methods.gbu.sweep_state import Half, State, scaled_ridge

_STEP = 1 << 22  # counts converted to weights at a time


@dataclass(frozen=True)
class Loss:
    """Parameters of the objective: x_max; alpha α; background c₀; ridge: λ at K = 100."""

    x_max: float
    alpha: float
    background: float
    ridge: float
    penalty_option: ClassVar[str] = "--ridge"
    needs_targets: ClassVar[bool] = True

    def penalty(self, K: int) -> Penalty:
        """Return c₀ and λ, which all rows share, for K columns."""
        return Penalty(self.background, scaled_ridge(self.ridge, K))

    def sweeps(self, targets: Csr, counts: Float32, K: int, ops: Ops) -> SquaredSweeps:
        """Return the half sweeps over these pairs; counts become weights, in place."""
        weights = confidences(counts, self)
        worst = zero_objective(targets, weights)
        return SquaredSweeps(ops.row_solver(targets, weights), worst, self.penalty(K), ops)


def confidences(counts: Float32, loss: Loss) -> Float32:
    """Convert counts (nnz) to the weights c_ij of their pairs, in place."""
    for start in range(0, len(counts), _STEP):
        part = counts[start : start + _STEP]
        part /= np.float32(loss.x_max)
        np.minimum(part, 1.0, out=part)
        part **= np.float32(loss.alpha)
    return counts


@dataclass(frozen=True)
class SquaredSweeps:
    """Half sweeps of the squared loss.

    worst: Σ c_ij g_ij², the objective of zero vectors.
    """

    solver: RowSolver
    worst: float
    penalty: Penalty
    ops: Ops

    def half(self, other: Tall, start: Tall, contexts: bool, early: bool, tol: float) -> Half:
        """Solve all rows; the matrix is symmetric, so both sides have the same rows."""
        rows = solve_rows(self.solver, other, start, self.penalty, tol, self.ops)
        squares = float(np.trace(self.ops.inner(other, other)))
        objective = self.worst - float(rows.gains.sum()) + self.penalty.ridge * squares
        return Half(rows.solution, objective, rows.steps, rows.missed)

    def finish(self, state: State) -> None:
        """Do nothing: the objective of each half sweep is known."""
