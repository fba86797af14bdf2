"""The fit of dynamic LSA: alternating half sweeps, starting from static LSA.

Static LSA of X − G M with B_k = 0 for k > 0 is a feasible point, so the first half sweep starts
there and the objective never increases. It keeps decreasing slowly, because the B_k can absorb
almost any change of basis that is linear in time (canonical_form.py). The number of sweeps is
therefore a budget, and the last decrease is reported.
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


def restored(checkpoint: Checkpoint, n: int, p: int, terms: int, dim: int) -> State | None:
    """Return the state of a checkpoint for n documents and p words, None if there is none.

    terms: q + 1; dim: largest dimension. Raises FormatError if it is inconsistent: products do not
    check shapes.
    """
    arrays = checkpoint.restore()
    if arrays is None:
        return None
    try:
        A, B, objectives = arrays["a"], arrays["b"], arrays["objectives"].tolist()
        ridges = Ridges(*(float(value) for value in arrays["ridges"]))
        valid = _valid(A, n, dim) and _valid(B, terms * p, dim) and A.shape[1] == B.shape[1]
        numbers = [*objectives, ridges.words, ridges.documents]
        valid = valid and len(objectives) > 0 and bool(np.isfinite(numbers).all())
    except (KeyError, ValueError, TypeError):
        valid = False
    if not valid:
        raise FormatError("the checkpoint of the sweeps is damaged", do="start over with --force")
    return State(A, np.split(B, terms), ridges, objectives)


def _valid(array: Any, rows: int, most: int) -> bool:
    shaped = array.ndim == 2 and array.shape[0] == rows and 0 < array.shape[1] <= most
    return shaped and array.dtype == np.float32 and bool(np.isfinite(array).all())
