"""The state of sweeps over weighted pairs, and what one half sweep returns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Array, Checkpoint

_MOST_COLUMNS = 300  # λ does not grow beyond this K: docs/methods/gbu.md


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


@dataclass(frozen=True)
class Half:
    """The vectors (V × K) of one side after a half sweep.

    objective: of both sides; steps, missed: as in RowSolutions.
    """

    solution: Tall
    objective: float
    steps: int
    missed: int


class Sweeps(Protocol):
    """Half sweeps of one loss over all pairs."""

    def half(self, other: Tall, start: Tall, contexts: bool, early: bool, tol: float) -> Half:
        """Solve all rows of one side to a relative tolerance, for fixed `other`, from `start`.

        contexts: the rows are those of context vectors; early: the vectors are far from the result.
        """

    def finish(self, state: State) -> None:
        """Complete the objectives after the last half sweep."""


def scaled_ridge(ridge: float, K: int) -> float:
    """Return λ for K columns; ridge: λ at K = 100.

    λ grows with the square of K, since later columns contain more noise. It is constant from
    K = 300, where larger values remove all signal (docs/methods/gbu.md).
    """
    return ridge * (min(K, _MOST_COLUMNS) / 100.0) ** 2


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
