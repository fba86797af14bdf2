"""The fit of dynamic LSA: alternating half sweeps, starting from static LSA.

Static LSA of X − G M with B_k = 0 for k > 0 is a feasible point, so the first half sweep starts
there and the objective never increases. It keeps decreasing slowly, because the B_k can absorb
almost any change of basis that is linear in time (canonical_form.py). The number of sweeps is
therefore a budget, and the last decrease is reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from wordgeom.core.types import Array, Checkpoint
from wordgeom.linalg.svd import Svd
from wordgeom.methods.dlsa.sweeps import Ridges, Sweeper

_RIDGE = 1e-8  # relative to the mean diagonal of the Gram matrix


@dataclass
class State:
    """A (n × r), the transposed B_k (p × r), and the objective after each half sweep.

    The first objective is that of static LSA.
    """

    A: Array
    B: list[Array]
    ridges: Ridges
    objectives: list[float] = field(default_factory=list)

    @property
    def halves(self) -> int:
        """Number of half sweeps so far."""
        return len(self.objectives) - 1

    @property
    def last_drop(self) -> float | None:
        """Relative decrease of the objective in the last sweep; None before the first."""
        if self.halves < half_sweeps(1):
            return None
        before, last = self.objectives[-3], self.objectives[-1]
        return (before - last) / last if last > 0.0 else 0.0


def half_sweeps(sweeps: int) -> int:
    """Return the number of half sweeps: words first, then documents and words in each sweep."""
    return 1 + 2 * sweeps


def initial_state(svd: Svd, terms: int, total: float) -> State:
    """Return the state at static LSA, with its numerical rank as dimension.

    terms: q + 1; total: ‖X − G M‖².
    """
    rank = int(np.count_nonzero(svd.values))
    A = np.ascontiguousarray(svd.left[:, :rank] * svd.values[:rank], np.float32)
    B = [np.ascontiguousarray(svd.right[:, :rank], np.float32)]
    B += [np.zeros_like(B[0]) for _ in range(terms - 1)]
    captured = float(np.sum(svd.values[:rank] ** 2))
    ridges = Ridges(_RIDGE * captured / rank, _RIDGE)
    penalty = ridges.documents * captured + ridges.words * rank
    return State(A, B, ridges, [total - captured + penalty])


def sweep(state: State, sweeper: Sweeper, most: int) -> Iterator[int]:
    """Run half sweeps on `state` until there are `most`; yield 1 after each."""
    while state.halves < most:
        if state.halves % 2 == 0:
            half = sweeper.words(state.A)
            state.B = half.solution
        else:
            half = sweeper.documents(state.B)
            state.A = half.solution
        state.objectives.append(half.objective)
        yield 1


def saved(state: State) -> Mapping[str, Array]:
    """Return a state as the arrays of a checkpoint."""
    ridges = np.array([state.ridges.words, state.ridges.documents])
    return {
        "a": state.A, "b": np.concatenate(state.B), "ridges": ridges,
        "objectives": np.array(state.objectives),
    }  # fmt: skip


def restored(checkpoint: Checkpoint, terms: int) -> State | None:
    """Return the state of the sweeps in a checkpoint, None if they have not begun.

    terms: q + 1.
    """
    arrays = checkpoint.restore()
    if arrays is None or "objectives" not in arrays:  # of static LSA, which comes first
        return None
    ridges = Ridges(*arrays["ridges"].tolist())
    return State(arrays["a"], np.split(arrays["b"], terms), ridges, arrays["objectives"].tolist())
