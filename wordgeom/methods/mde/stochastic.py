"""The stochastic proximal method, for more pairs than one gradient should read (algorithm 6.2).

Each round takes the next batch of pairs and minimises E_batch(X) + (c k/2) ‖X − X_k‖² by a few
steps of L-BFGS, k the number of the round. Batches are parts of one random order of all pairs. The
result is the mean over the last pass, in which no batch counts more than another. c is .035 of the
mean curvature tr ∇²E/(n m) of the first batch after its round. The book takes .1, which on its
small problem (Figure 7.4) ends twice as far from the optimum.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from wordgeom.core.ops import Ops, Tall, dot
from wordgeom.core.types import Array, Float32
from wordgeom.methods.mde.problem import Term
from wordgeom.optim.constraints import Constraint
from wordgeom.optim.lbfgs import Lbfgs

_STEPS, _MEMORY = 10, 10  # of L-BFGS in a round
_PROBES, _PROBE = 10, 1e-3  # random directions, and their length relative to that of X
_SHARE = 0.035  # of the mean curvature


@dataclass
class Rounds:
    """Where a run stands.

    x (n × m); total (n × m): the sum of x over the last pass, once it has begun; values: E of each
    batch after its round; lengths: of each move relative to x; c: the weight.
    """

    x: Tall
    total: Tall
    values: list[float] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    c: float = 0.0

    def saved(self, ops: Ops) -> Mapping[str, Array]:
        """Return the state as the arrays of a checkpoint."""
        return {
            "x": ops.to_numpy(self.x), "total": ops.to_numpy(self.total), "c": np.array([self.c]),
            "values": np.array(self.values), "lengths": np.array(self.lengths),
        }  # fmt: skip

    @classmethod
    def restored(cls, arrays: Mapping[str, Array], ops: Ops) -> Rounds:
        """Return the state of a checkpoint."""
        x, total = (ops.tall(arrays[name], arrays[name].dtype) for name in ("x", "total"))
        values, lengths = (arrays[name].tolist() for name in ("values", "lengths"))
        return cls(x, total, values, lengths, float(arrays["c"][0]))


def batches(terms: list[Term], size: int, rng: np.random.Generator) -> list[list[Term]]:
    """Return the terms in parts of about `size` pairs, each pair in one part, in random order."""
    ends = np.cumsum([0, *(len(term.pairs) for term in terms)])
    order = rng.permutation(int(ends[-1]))
    parts = np.array_split(order, max(1, round(len(order) / size)))
    return [
        [Term(term.pairs.chosen(np.sort(part[(part >= first) & (part < last)]) - first),
              term.distortion)
         for term, first, last in zip(terms, ends[:-1], ends[1:], strict=True)]
        for part in parts
    ]  # fmt: skip


class Proximal:
    """Minimises the average distortion of a problem by its batches in turn, under a constraint."""

    def __init__(
        self, problem: Any, batches: list[Any], ops: Ops, *, rounds: int, constraint: Constraint,
        seed: int,
    ) -> None:  # fmt: skip
        self.problem, self._problems, self._ops, self._rounds = problem, batches, ops, rounds
        self._constraint, self._seed, self.most = constraint, seed, rounds

    def start(self, x: Float32) -> Rounds:
        """Return the state before the first round from x (n × m)."""
        tall = self._constraint.onto(self._ops.tall(x, x.dtype))
        return Rounds(tall, 0.0 * tall)

    def restored(self, arrays: Mapping[str, Array]) -> Rounds:
        """Return the state of a checkpoint."""
        return Rounds.restored(arrays, self._ops)

    def reached(self, state: Rounds) -> bool:
        """Whether all rounds are done."""
        return len(state.values) >= self._rounds

    def end(self, state: Rounds) -> tuple[float, float]:
        """Return the average distortion of all pairs and the norm of its projected gradient."""
        value, gradient = self.problem(state.x)
        return value, float(np.sqrt(self._square(self._constraint.tangent(state.x, gradient))))

    def iterations(self, state: Rounds) -> Iterator[int]:
        """Run the rounds that are left and yield 1 after each; x ends as the mean of a pass."""
        last = min(len(self._problems), self._rounds)
        while len(state.values) < self._rounds:
            self._round(state)
            if len(state.values) > self._rounds - last:
                state.total = self._ops.along(state.total, 1.0 / last, state.x)
            if len(state.values) == self._rounds:
                state.x = self._constraint.onto(state.total)
            yield 1

    def _round(self, state: Rounds) -> None:
        k = len(state.values)
        problem = self._problems[k % len(self._problems)]
        function = self._regularised(problem, state.x, state.c * k)
        descent = Lbfgs(function, self._ops, most=_STEPS, constraint=self._constraint)
        inner = descent.start(self._ops.to_numpy(state.x), _MEMORY)
        for _ in descent.iterations(inner):
            pass
        moved = self._ops.along(inner.x, -1.0, state.x)
        state.lengths.append(float(np.sqrt(self._square(moved) / self._square(state.x))))
        state.x = inner.x
        state.values.append(problem(state.x)[0])
        if k == 0:
            state.c = _SHARE * self._curvature(problem, state.x)

    def _regularised(
        self, problem: Any, center: Tall, weight: float
    ) -> Callable[[Tall], tuple[float, Tall]]:
        """Return E + (weight/2) ‖X − center‖² with its gradient."""
        if weight == 0.0:
            return problem  # type: ignore[no-any-return]

        def function(x: Tall) -> tuple[float, Tall]:
            value, gradient = problem(x)
            apart = self._ops.along(x, -1.0, center)
            gradient = self._ops.along(gradient, weight, apart)
            return value + 0.5 * weight * self._square(apart), gradient

        return function

    def _curvature(self, problem: Any, x: Tall) -> float:
        """Return tr ∇²E/(n m), by Hutchinson's estimate: the mean of vᵀ ∇²E v over v = ±1."""
        rng = np.random.default_rng((self._seed, 1))
        here = self._ops.to_numpy(x)
        step = _PROBE * float(np.sqrt(np.mean(np.square(here, dtype=np.float64))))
        total = 0.0
        for _ in range(_PROBES):
            signs = rng.choice(np.array([-1.0, 1.0], here.dtype), here.shape)
            way = self._ops.tall(signs, here.dtype)
            ends = [problem(self._ops.along(x, size, way))[1] for size in (step, -step)]
            change = self._ops.along(ends[0], -1.0, ends[1])
            total += dot(self._ops, change, way) / (2.0 * step)
        return max(total / (_PROBES * here.size), 0.0)

    def _square(self, tall: Tall) -> float:
        return dot(self._ops, tall, tall)
