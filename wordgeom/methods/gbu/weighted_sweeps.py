"""Weighted sweeps: what was counted often counts more, and what was never counted counts a little.

On the pattern P = {C_ij > 0}, with g_ij the weighted count (0 where it was clipped, still in P) and
c_ij = min(1, (C_ij / x_max)^α), the objective is

    Σ_P c_ij (g_ij − v_i·u_j)² + c₀ Σ_all (v_i·u_j)² + λ (‖V‖² + ‖U‖²),

minimised by turns: U with V held, then V with U held, each row to the residual that is asked for
(linalg/rows.py). G is symmetric, so that both turns read the same rows. A relative of GloVe's
objective (Pennington, Socher and Manning 2014, eq. 8) and of weighted matrix factorisation (Hu,
Koren and Volinsky 2008).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.ops import Ops, RowSolver, Tall
from wordgeom.core.types import Array, Checkpoint, Float32
from wordgeom.linalg.row_solver import Penalty, solve_rows

_MOST_COLUMNS = 300  # up to which λ grows: docs/methods/gbu.md
_STEP = 1 << 22  # counts turned into weights at once


@dataclass(frozen=True)
class Loss:
    """How the objective weighs: x_max, alpha: of counts; background c₀; ridge: λ at K = 100."""

    x_max: float
    alpha: float
    background: float
    ridge: float

    def held(self, K: int) -> Penalty:
        """Return what is the same for all rows of K columns.

        λ grows with the square of K, since later columns hold more noise, and no more from K = 300
        on, where a larger one was seen to take everything (docs/methods/gbu.md).
        """
        return Penalty(self.background, self.ridge * (min(K, _MOST_COLUMNS) / 100.0) ** 2)


@dataclass
class State:
    """Vectors v and u (V × K), and the objective after each half sweep.

    steps: of all rows' solves; missed: rows of the last half sweep beyond the tolerance; facts: of
    how they began, for the run card.
    """

    v: Tall
    u: Tall
    objectives: list[float] = field(default_factory=list)
    steps: int = 0
    missed: int = 0
    facts: dict[str, Any] = field(default_factory=dict)

    @property
    def halves(self) -> int:
        """Half sweeps that were made."""
        return len(self.objectives)


def confidences(counts: Float32, loss: Loss) -> Float32:
    """Turn counts (nnz), in place, into the weights c_ij of their pairs."""
    for start in range(0, len(counts), _STEP):
        part = counts[start : start + _STEP]
        part /= np.float32(loss.x_max)
        np.minimum(part, 1.0, out=part)
        part **= np.float32(loss.alpha)
    return counts


def half_sweeps(
    state: State, solver: RowSolver, worst: float, loss: Loss, halves: int, tol: float, ops: Ops
) -> Iterator[int]:
    """Bring `state` on by turns until `halves` are made; yield 1 after each.

    worst: Σ c_ij g_ij²; tol: of each row's residual, relative.
    """
    held = loss.held(state.v.shape[1])
    while state.halves < halves:
        first = state.halves % 2 == 0
        other, start = (state.v, state.u) if first else (state.u, state.v)
        rows = solve_rows(solver, other, start, held, tol, ops)
        if first:
            state.u = rows.solution
        else:
            state.v = rows.solution
        size = float(np.trace(ops.inner(other, other)))
        state.objectives.append(worst - float(rows.gains.sum()) + held.ridge * size)
        state.steps += rows.steps
        state.missed = rows.missed
        yield 1


def saved(state: State, ops: Ops) -> Mapping[str, Array]:
    """Return a state as arrays, to be kept."""
    numbers = np.array([state.steps, state.missed], np.int64)
    return {
        "v": ops.to_numpy(state.v), "u": ops.to_numpy(state.u),
        "objectives": np.array(state.objectives), "numbers": numbers,
        "facts": np.frombuffer(json.dumps(state.facts).encode(), np.uint8),
    }  # fmt: skip


def restored(checkpoint: Checkpoint | None, shape: tuple[int, int], ops: Ops) -> State | None:
    """Return the state of vectors (V × K) that an earlier run left, None where there is none.

    Raises FormatError for one that was edited: kernels take its shape for granted.
    """
    kept = None if checkpoint is None else checkpoint.restore()
    if kept is None:
        return None
    try:
        v, u = kept["v"], kept["u"]
        steps, missed = (int(number) for number in kept["numbers"])
        facts = json.loads(kept["facts"].tobytes())
        objectives = [float(value) for value in kept["objectives"]]
        sound = {v.shape, u.shape} == {shape} and {v.dtype, u.dtype} == {np.dtype(np.float32)}
        sound = sound and {"effective_rank", "anchors"} <= set(facts)
    except (KeyError, ValueError, TypeError, RecursionError):
        sound = False
    if not sound:
        raise FormatError("the state of its sweeps was edited", do="begin anew with --force")
    return State(ops.tall(v, v.dtype), ops.tall(u, u.dtype), objectives, steps, missed, facts)
