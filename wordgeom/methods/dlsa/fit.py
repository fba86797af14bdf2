"""The fit of dynamic LSA: from static LSA, half sweeps by turns, in one form at the end.

Static LSA of X − G M, with every B_k of k > 0 at 0, is a point of the problem, so that the first
half begins where static LSA ends and the objective only falls. It falls slowly for ever: the B_k
may take up nearly any change of basis that is linear in time (gauge.py), so that sweeps are a
budget, not a way to convergence, and the last drop is told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Array, Checkpoint
from wordgeom.linalg.svd import Svd
from wordgeom.methods.dlsa.sweeps import Ridges, Sweeper

_RIDGE = 1e-8  # of the mean diagonal of the Gram matrix that it is added to


@dataclass
class State:
    """Where sweeps are: A (n × r), the B_k transposed (p × r), and the objective after each half.

    The first objective is static LSA's.
    """

    A: Array
    B: list[Array]
    ridges: Ridges
    objectives: list[float] = field(default_factory=list)

    @property
    def halves(self) -> int:
        """Half sweeps that were made."""
        return len(self.objectives) - 1

    @property
    def last_drop(self) -> float | None:
        """What the last sweep took from the objective, as a share of it; None before the first."""
        if self.halves < halves(1):
            return None
        before, last = self.objectives[-3], self.objectives[-1]
        return (before - last) / last if last > 0.0 else 0.0


def halves(sweeps: int) -> int:
    """Return the half sweeps of so many sweeps: the words', then documents' and words' by turns."""
    return 1 + 2 * sweeps


def started(svd: Svd, sides: int, total: float) -> State:
    """Return the state at static LSA, in as many dimensions as are more than rounding.

    sides: q + 1; total: the squared norm of what is fitted.
    """
    rank = int(np.count_nonzero(svd.values))
    A = np.ascontiguousarray(svd.left[:, :rank] * svd.values[:rank], np.float32)
    B = [np.ascontiguousarray(svd.right[:, :rank], np.float32)]
    B += [np.zeros_like(B[0]) for _ in range(sides - 1)]
    captured = float(np.sum(svd.values[:rank] ** 2))
    ridges = Ridges(_RIDGE * captured / rank, _RIDGE)
    size = ridges.documents * captured + ridges.words * rank
    return State(A, B, ridges, [total - captured + size])


def sweep(state: State, sweeper: Sweeper, most: int) -> Iterator[int]:
    """Bring `state` on by turns until `most` half sweeps are made; yield 1 after each."""
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
    """Return a state as arrays, to be kept."""
    ridges = np.array([state.ridges.words, state.ridges.documents])
    return {
        "a": state.A, "b": np.concatenate(state.B), "ridges": ridges,
        "objectives": np.array(state.objectives),
    }  # fmt: skip


def restored(checkpoint: Checkpoint | None, n: int, p: int, sides: int, dim: int) -> State | None:
    """Return the state that an earlier run left of n documents and p words, or None.

    sides: q + 1; dim: the dimensions at most.

    Raises FormatError for one that was edited: products take its shape for granted.
    """
    kept = None if checkpoint is None else checkpoint.restore()
    if kept is None:
        return None
    try:
        A, B, objectives = kept["a"], kept["b"], kept["objectives"].tolist()
        ridges = Ridges(*(float(value) for value in kept["ridges"]))
        sound = _sound(A, n, dim) and _sound(B, sides * p, dim) and A.shape[1] == B.shape[1]
        numbers = [*objectives, ridges.words, ridges.documents]
        sound = sound and len(objectives) > 0 and bool(np.isfinite(numbers).all())
    except (KeyError, ValueError, TypeError):
        sound = False
    if not sound:
        raise FormatError("the state of its sweeps was edited", do="begin anew with --force")
    return State(A, np.split(B, sides), ridges, objectives)


def _sound(array: Any, rows: int, most: int) -> bool:
    shaped = array.ndim == 2 and array.shape[0] == rows and 0 < array.shape[1] <= most
    return shaped and array.dtype == np.float32 and bool(np.isfinite(array).all())
