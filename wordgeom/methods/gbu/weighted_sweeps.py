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

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wordgeom.core.ops import Ops, RowSolver, Tall
from wordgeom.core.types import Array, Checkpoint, Float32
from wordgeom.linalg.row_solver import Penalty, solve_rows

_MOST_COLUMNS = 300  # λ does not grow beyond this K: docs/methods/gbu.md
_STEP = 1 << 22  # counts converted to weights at a time


@dataclass(frozen=True)
class Loss:
    """Parameters of the objective: x_max; alpha α; background c₀; ridge: λ at K = 100."""

    x_max: float
    alpha: float
    background: float
    ridge: float

    def penalty(self, K: int) -> Penalty:
        """Return c₀ and λ, which all rows share, for K columns.

        λ grows with the square of K, since later columns contain more noise. It is constant from
        K = 300, where larger values remove all signal (docs/methods/gbu.md).
        """
        return Penalty(self.background, self.ridge * (min(K, _MOST_COLUMNS) / 100.0) ** 2)


@dataclass
class State:
    """Word vectors v and context vectors u (V × K), and the objective after each half sweep.

    steps: conjugate gradient steps of all rows; missed: rows of the last half sweep that missed the
    tolerance; facts: statistics of the start, for the run card; empty: words without a pair.
    """

    v: Tall
    u: Tall
    objectives: list[float] = field(default_factory=list)
    steps: int = 0
    missed: int = 0
    facts: dict[str, Any] = field(default_factory=dict)
    empty: int = 0

    @property
    def halves(self) -> int:
        """Number of half sweeps so far."""
        return len(self.objectives)


def confidences(counts: Float32, loss: Loss) -> Float32:
    """Convert counts (nnz) to the weights c_ij of their pairs, in place."""
    for start in range(0, len(counts), _STEP):
        part = counts[start : start + _STEP]
        part /= np.float32(loss.x_max)
        np.minimum(part, 1.0, out=part)
        part **= np.float32(loss.alpha)
    return counts


def half_sweeps(
    state: State, solver: RowSolver, worst: float, loss: Loss, halves: int, tol: float, ops: Ops
) -> Iterator[int]:
    """Run half sweeps on `state` until there are `halves`; yield 1 after each.

    worst: Σ c_ij g_ij², the objective of zero vectors; tol: relative tolerance on each row.
    """
    penalty = loss.penalty(state.v.shape[1])
    while state.halves < halves:
        first = state.halves % 2 == 0
        other, start = (state.v, state.u) if first else (state.u, state.v)
        rows = solve_rows(solver, other, start, penalty, tol, ops)
        if first:
            state.u = rows.solution
        else:
            state.v = rows.solution
        squares = float(np.trace(ops.inner(other, other)))
        state.objectives.append(worst - float(rows.gains.sum()) + penalty.ridge * squares)
        state.steps += rows.steps
        state.missed = rows.missed
        yield 1


def saved(state: State, ops: Ops) -> Mapping[str, Array]:
    """Return a state as the arrays of a checkpoint."""
    numbers = np.array([state.steps, state.missed], np.int64)
    return {
        "v": ops.to_numpy(state.v), "u": ops.to_numpy(state.u),
        "objectives": np.array(state.objectives), "numbers": numbers,
        "facts": np.frombuffer(json.dumps(state.facts).encode(), np.uint8),
    }  # fmt: skip


def restored(checkpoint: Checkpoint, ops: Ops) -> State | None:
    """Return the state of a checkpoint, None if there is none, or one of an earlier step."""
    arrays = checkpoint.restore()
    if arrays is None or "objectives" not in arrays:
        return None
    steps, missed = arrays["numbers"].tolist()
    v, u = (ops.tall(arrays[name], arrays[name].dtype) for name in ("v", "u"))
    facts = json.loads(arrays["facts"].tobytes())
    return State(v, u, arrays["objectives"].tolist(), steps, missed, facts)
