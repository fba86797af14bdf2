"""The optimisers: each takes steps from a state that a checkpoint holds.

`Majorised` minimises, at each step, a simpler function that is nowhere below L and touches it at
the current vectors, so that L never increases (majorise.py). `Stochastic` follows estimates of the
gradient from random words, with all supervised pairs in each. `Quasi` is L-BFGS (optim/lbfgs.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.methods.ssmds.majorise import Majorise
from wordgeom.methods.ssmds.objective import Objective
from wordgeom.optim.lbfgs import Lbfgs
from wordgeom.optim.lbfgs import State as LbfgsState
from wordgeom.optim.schedules import inverse_time
from wordgeom.optim.stopping import settled

_MEMORY = 6  # pairs of L-BFGS
_SPAN = {"majorise": 5, "sgd": 10}  # steps or epochs over which the fall of L is measured
_EXPLODED = 1e4  # times L at the start or for zero vectors
_FAR = 1e70  # norm of vectors whose L, with fourth powers, is still a number
_PROBES, _POWERS, _PROBE = 8, 4, 1e-4  # batches, power iterations, relative length of their steps


class Run(Protocol):
    """An optimiser on its way."""

    @property
    def vectors(self) -> Float64:
        """The vectors (V × K)."""

    @property
    def values(self) -> list[float]:
        """L before the first step and after each."""

    @property
    def reached(self) -> bool:
        """Whether L has settled."""

    def iterations(self) -> Iterator[int]:
        """Take the steps, and yield 1 after each."""

    def saved(self) -> Mapping[str, Array]:
        """Return the state as the arrays of a checkpoint."""


class Quasi:
    """L-BFGS on the vectors, from a start (V × K) or from the arrays of a checkpoint."""

    def __init__(
        self, objective: Objective, start: Float64, saved: Mapping[str, Array] | None, ops: Ops,
        *, most: int, tol: float,
    ) -> None:  # fmt: skip
        def function(vectors: Float64) -> tuple[float, Float64]:
            found = objective.slope(vectors)
            return found.value, found.gradient

        self._ops, self._run = ops, Lbfgs(function, ops, most=most, tol=tol)
        self._state = (
            self._run.start(start, _MEMORY) if saved is None else LbfgsState.restored(saved, ops)
        )

    @property
    def vectors(self) -> Float64:
        """The vectors (V × K)."""
        return np.asarray(self._state.x)

    @property
    def values(self) -> list[float]:
        """L before the first step and after each."""
        return self._state.values

    @property
    def reached(self) -> bool:
        """Whether L has settled."""
        return self._run.reached(self._state)

    def iterations(self) -> Iterator[int]:
        """Take the steps, and yield 1 after each."""
        return self._run.iterations(self._state)

    def saved(self) -> Mapping[str, Array]:
        """Return the state as the arrays of a checkpoint."""
        return self._state.saved(self._ops)


@dataclass
class State:
    """Where a run stands: vectors (V × K), and L before the first step and after each.

    stuck: whether no step lowers L; rate: of stochastic descent, 0 before it is chosen.
    """

    vectors: Float64
    values: list[float] = field(default_factory=list)
    stuck: bool = False
    rate: float = 0.0

    def saved(self) -> Mapping[str, Array]:
        """Return the state as the arrays of a checkpoint."""
        numbers = np.array([float(self.stuck), self.rate])
        return {"vectors": self.vectors, "values": np.array(self.values), "numbers": numbers}

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> State:
        """Return the state of a checkpoint."""
        stuck, rate = arrays["numbers"].tolist()
        return cls(np.array(arrays["vectors"]), arrays["values"].tolist(), bool(stuck), rate)


class _Stepwise:
    """What the optimisers that hold vectors alone have in common."""

    def __init__(self, objective: Objective, state: State, *, most: int, tol: float) -> None:
        self.objective, self.state, self._most, self._tol = objective, state, most, tol
        self.saved = state.saved

    @property
    def vectors(self) -> Float64:
        """The vectors (V × K)."""
        return self.state.vectors

    @property
    def values(self) -> list[float]:
        """L before the first step and after each."""
        return self.state.values


class Majorised(_Stepwise):
    """Majorisation."""

    def __init__(self, objective: Objective, state: State, majorise: Majorise,
                 *, most: int, tol: float) -> None:  # fmt: skip
        super().__init__(objective, state, most=most, tol=tol)
        self._majorise = majorise

    @property
    def reached(self) -> bool:
        """Whether L has settled, or cannot decrease further in floating point."""
        return self.state.stuck or settled(self.values, self._tol, _SPAN["majorise"])

    def iterations(self) -> Iterator[int]:
        """Take steps until L settles, and yield 1 after each."""
        state, at = self.state, self.objective.slope(self.state.vectors)
        if not state.values:
            state.values.append(at.value)
        while not self.reached and len(state.values) <= self._most:
            moved = self._majorise(state.vectors, at.gradient)
            then = self.objective.slope(moved)
            state.stuck = not then.value < at.value  # rounding, at a minimum
            if not state.stuck:
                state.vectors, at = moved, then
            state.values.append(at.value)
            yield 1


class Stochastic(_Stepwise):
    """Stochastic gradient descent; rate: at the first step, 0 for a safe one."""

    def __init__(self, objective: Objective, state: State, *, most: int, tol: float, rate: float,
                 decay: float, batch: int, seed: int) -> None:  # fmt: skip
        super().__init__(objective, state, most=most, tol=tol)
        self._batch, self._seed = min(batch, len(state.vectors)), seed
        if not state.values:
            state.values.append(objective.slope(state.vectors).value)
        self.rate = state.rate = rate or state.rate or self._safe_rate()
        self._decay = inverse_time(self.rate, decay)

    @property
    def reached(self) -> bool:
        """Whether L has settled."""
        return settled(self.values, self._tol, _SPAN["sgd"])

    def iterations(self) -> Iterator[int]:
        """Run epochs until L settles, and yield 1 after each. Raises OptionError."""
        state = self.state
        while not self.reached and len(state.values) <= self._most:
            epoch = len(state.values)
            batches = self._batches(epoch)
            for k, batch in enumerate(batches, 1):
                self._step(batch, epoch, (epoch - 1) * len(batches) + k)
            value = self.objective.slope(state.vectors).value
            if not value <= _EXPLODED * self._worst:
                raise self._diverged(epoch, epoch * len(batches), f"L is {value:.3g}")
            state.values.append(value)
            yield 1

    def _step(self, rows: Int64, epoch: int, step: int) -> None:
        """Take the step of a batch. Raises OptionError where it leaves the numbers."""
        with np.errstate(over="ignore", invalid="ignore"):
            gradient = self.objective.partial(self.state.vectors, rows)
            moved = self.state.vectors - self._decay(epoch - 1) * gradient
            length = _norm(moved)
        if not length < _FAR:
            raise self._diverged(epoch, step, "the vectors grow without bound")
        self.state.vectors = moved

    @property
    def _worst(self) -> float:
        """The larger of L at the start and L for zero vectors."""
        objective, weight = self.objective, self.objective.weight
        zero = weight * objective.fit.largest
        zero += (1.0 - weight) * objective.supervised.term.largest
        return max(zero, self.values[0])

    def _diverged(self, epoch: int, step: int, how: str) -> OptionError:
        what = f"--rate {self.rate:.3g} diverges: at step {step:,} (epoch {epoch:,}) {how}"
        against = f", but {self._worst:.3g} at the start or with zero vectors"
        do = f"lower --rate, for example to {self.rate / 10:.2g}"
        return OptionError(what + (against if how.startswith("L") else ""), do=do)

    def _safe_rate(self) -> float:
        """Return half the inverse of the largest curvature of some batches at the start.

        Power iteration: the gradient of a batch changes by H v along a small step v, and the change
        is the next v.
        """
        vectors = self.state.vectors
        largest, step = 0.0, _PROBE * (_norm(vectors) or 1.0)
        for batch in self._batches(0)[:_PROBES]:
            first = self.objective.partial(vectors, batch)
            change = first
            for _ in range(_POWERS):
                length = _norm(change)
                if length == 0.0:
                    break
                change = self.objective.partial(vectors + change * (step / length), batch) - first
                largest = max(largest, _norm(change) / step)
        return 0.5 / largest if largest else 1.0

    def _batches(self, epoch: int) -> list[Int64]:
        """Return the rows of each batch, ascending, drawn by the seed and the epoch."""
        rows = np.random.default_rng((self._seed, epoch)).permutation(len(self.state.vectors))
        parts = np.array_split(rows, -(-len(rows) // self._batch))
        return [np.sort(part) for part in parts]


def _norm(array: Float64) -> float:
    """Return the norm, not by BLAS, whose sum depends on the number of threads."""
    return math.sqrt(float(np.einsum("ij,ij->", array, array)))
