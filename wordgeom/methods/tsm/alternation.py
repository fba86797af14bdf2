"""The alternating minimisation of ‖L − Z‖² over Z and L of rank d (eq. 4, Appendix A).

Objectives are those of L_t with the Z that is best for it, without momentum and shift, so that runs
with different settings can be compared. They do not increase without momentum and constraint.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Array
from wordgeom.linalg.gram import orthonormal
from wordgeom.methods.tsm.factors import Factors
from wordgeom.methods.tsm.ritz import refine
from wordgeom.methods.tsm.targets import Target

OFF, PAPER, REVERSED = "off", "paper", "reversed"
_FIRST = 4  # Rayleigh–Ritz steps of the first update, which has no eigenvectors to start from


@dataclass(frozen=True)
class Constraint:
    """The constraint on Σ Z: `paper` Σ ≥ bound (eq. 19), `reversed` Σ ≤ bound, `off` none.

    zeros: entries of the whole matrix where S is 0.
    """

    kind: str
    bound: float
    zeros: int

    def shift(self, total: float) -> float:
        """Return δ (eq. 21), what each of those entries is to be shifted by for a sum `total`."""
        if self.kind == OFF or not self.zeros:
            return 0.0
        missing = (self.bound - total) / self.zeros
        return max(0.0, missing) if self.kind == PAPER else min(0.0, missing)


@dataclass
class State:
    """L, and the course of the updates.

    objectives: before each update; shifts: updates with δ ≠ 0.
    """

    L: Factors
    objectives: list[float] = field(default_factory=list)
    shifts: int = 0

    def saved(self, ops: Ops) -> Mapping[str, Array]:
        """Return the state as arrays."""
        return {
            "vectors": ops.to_numpy(self.L.basis), "values": self.L.weights,
            "objectives": np.array(self.objectives), "shifts": np.array([self.shifts]),
        }  # fmt: skip

    @classmethod
    def restored(cls, state: Mapping[str, Array], ops: Ops) -> State:
        """Return the state of an interrupted run."""
        L = Factors(ops.tall(state["vectors"], np.float32), state["values"])
        return cls(L, state["objectives"].tolist(), int(state["shifts"][0]))


@dataclass(frozen=True)
class Alternation:
    """Updates Z and L in turn; momentum: γ of eq. 23; d: rank of L."""

    target: Target
    constraint: Constraint
    momentum: float
    d: int
    ops: Ops

    def iterations(self, state: State, updates: int) -> Iterator[int]:
        """Run the updates that are left and yield 1 after each."""
        while len(state.objectives) < updates:
            self._update(state)
            yield 1

    def objective(self, L: Factors) -> float:
        """Return the objective of L at the end; Z is lost."""
        _, sums = self.target.update(L, 0.0, L.basis[:, :1])
        return max(0.0, float(sums[0]))

    def _update(self, state: State) -> None:
        first = not state.objectives
        basis: Tall = state.L.basis
        if first:
            basis = orthonormal(basis, self.ops)
        image, sums = self.target.update(state.L, self.momentum, basis)
        state.objectives.append(max(0.0, float(sums[0])))  # rounding may be negative
        delta = self.constraint.shift(float(sums[1]))
        if delta:
            self.target.shift(delta)
            image = self.target.multiply(basis)
            state.shifts += 1
        for _ in range(_FIRST if first else 1):
            state.L, image = refine(basis, image, self.target.multiply, self.d, self.ops)
            basis = state.L.basis
