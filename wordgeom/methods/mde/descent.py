"""L-BFGS on one problem, or in rounds whose dissimilar pairs are drawn anew.

With rounds, the first takes a third of the steps, and finds the layout with random dissimilar
pairs. Each other takes a fifteenth; its pairs are drawn where the items then are. A round is a
problem of its own, in which L-BFGS begins again, and all but the last end early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Array, Float32
from wordgeom.methods.mde.curvatures import curvatures
from wordgeom.optim.constraints import Constraint
from wordgeom.optim.lbfgs import Lbfgs, State

ROUNDS = 4  # after the first
_FIRST, _EACH = 3, 15  # parts of the steps: a third for the first round, a fifteenth for each other
_LOOSE = 3e-3  # tolerance of all rounds but the last, after which the pairs change anyway
_BOLD, _CAREFUL = 0.1, 1e-2  # first steps relative to the vectors: of the first round, of others
_NOISE = 1e-4  # of the deviation of the vectors
_LISTS = ("values", "norms", "lengths")

# The start of a round, from the vectors (n × m) before it; and its problem, from there.
Rounds = tuple[Callable[[Float32], Float32], Callable[[Float32, int], Any]]


@dataclass
class Course:
    """Where a run stands.

    inner: in this round; start (n × m): x before it; round: its number from 0; values, norms,
    lengths: of the rounds before, as those of `State`.
    """

    inner: State
    start: Float32
    round: int = 0
    earlier: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in _LISTS})

    @property
    def x(self) -> Tall:
        """The vectors (n × m)."""
        return self.inner.x

    @property
    def values(self) -> list[float]:
        """Average distortion before the first step and after each, of the pairs of its round."""
        return self._course("values")

    @property
    def norms(self) -> list[float]:
        """Norm of the projected gradient before the first step and after each."""
        return self._course("norms")

    @property
    def lengths(self) -> list[float]:
        """Length of each step relative to the vectors."""
        return [*self.earlier["lengths"], *self.inner.lengths]

    def _course(self, name: str) -> list[float]:
        own: list[float] = getattr(self.inner, name)
        return [*self.earlier[name], *(own[1:] if self.round else own)]

    def saved(self, ops: Ops) -> Mapping[str, Array]:
        """Return the state as the arrays of a checkpoint."""
        return {
            **self.inner.saved(ops), "start": self.start, "round": np.array([self.round]),
            **{f"earlier{name}": np.array(self.earlier[name]) for name in _LISTS if self.round},
        }  # fmt: skip

    @classmethod
    def restored(cls, arrays: Mapping[str, Array], ops: Ops) -> Course:
        """Return the state of a checkpoint."""
        start, number = np.array(arrays["start"]), int(arrays["round"][0])
        earlier = {name: arrays[f"earlier{name}"].tolist() if number else [] for name in _LISTS}
        return cls(State.restored(arrays, ops), start, number, earlier)


class Descent:
    """Minimises the average distortion of a problem, or of each round's problem in turn.

    tol, enough: at which a round ends before its steps are taken; rounds: None for one.
    """

    def __init__(
        self, problem: Any, rounds: Rounds | None, ops: Ops, constraint: Constraint,
        *, steps: int, tol: float, enough: float, memory: int, seed: int,
    ) -> None:  # fmt: skip
        self.problem, self._rounds, self._ops, self._constraint = problem, rounds, ops, constraint
        self._tol, self._enough, self._memory = tol, enough, memory
        self._seed = seed
        # The first term, of similar pairs or deviations, is the same in every round.
        self._curvatures = curvatures(problem.terms, problem.items)
        self._each = 0 if rounds is None else steps // _EACH
        self._first = -(-steps // _FIRST) if self._each else steps
        self.most = self._first + ROUNDS * self._each
        self._loose = max(tol, _LOOSE) if self._each and tol else tol

    def start(self, x: Float32) -> Course:
        """Return the state before the first step from x (n × m)."""
        return Course(self._lbfgs(0).start(x, self._memory), x)

    def restored(self, arrays: Mapping[str, Array]) -> Course:
        """Return the state of a checkpoint."""
        state = Course.restored(arrays, self._ops)
        self._take_problem(state)
        return state

    def reached(self, state: Course) -> bool:
        """Whether a tolerance was met; of several rounds, whether all are done."""
        return state.round == ROUNDS or self._lbfgs(state.round).reached(state.inner)

    def end(self, state: Course) -> tuple[float, float]:
        """Return the average distortion and the norm of its projected gradient."""
        return state.values[-1], state.norms[-1]

    def iterations(self, state: Course) -> Iterator[int]:
        """Take the steps that are left, and yield 1 after each."""
        yield from self._lbfgs(state.round).iterations(state.inner)
        while self._each and state.round < ROUNDS:
            self._begin_round(state)
            yield from self._lbfgs(state.round).iterations(state.inner)

    def _begin_round(self, state: Course) -> None:
        """Begin the next round, with noise that separates items which coincide."""
        state.earlier = {name: getattr(state, name) for name in _LISTS}
        state.round += 1
        assert self._rounds is not None
        x = self._rounds[0](self._ops.to_numpy(state.x))
        noise = np.random.default_rng((self._seed, state.round)).standard_normal(x.shape, x.dtype)
        state.start = x + _NOISE * x.std() * noise
        self._take_problem(state)
        state.inner = self._lbfgs(state.round).start(state.start, self._memory)

    def _take_problem(self, state: Course) -> None:
        if self._rounds is not None and state.round:
            self.problem = self._rounds[1](state.start, state.round)

    def _lbfgs(self, number: int) -> Lbfgs:
        most = self._each if number else self._first
        tol = self._loose if number < ROUNDS else self._tol
        return Lbfgs(self.problem, self._ops, most=most, tol=tol, enough=self._enough,
                     constraint=self._constraint, first=_CAREFUL if number else _BOLD,
                     curvatures=self._curvatures)  # fmt: skip
