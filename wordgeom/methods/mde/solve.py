"""Solve a problem: from a start, under a constraint, by L-BFGS or by the stochastic method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.ops import Ops
from wordgeom.core.types import Float32
from wordgeom.linalg.numpy_ops import NumpyOps
from wordgeom.methods.mde.descent import Descent
from wordgeom.methods.mde.problem import Problem, Term
from wordgeom.methods.mde.stochastic import Proximal, batches
from wordgeom.optim.constraints import Constraint
from wordgeom.runtime.context import Context

_APART = 1e-3  # of the deviation of X, by which items that coincide are separated


class Rounds(Protocol):
    """What changes from one round of a descent to the next."""

    def gathered(self, vectors: Float32) -> Float32:
        """Return the vectors (n × m) from which a round starts, for those before it."""

    def redrawn(self, vectors: Float32, number: int) -> Sequence[Term]:
        """Return the terms of round `number`, which starts from vectors (n × m)."""


@dataclass(frozen=True)
class Settings:
    """How to solve.

    steps: of L-BFGS, or rounds of the stochastic method; tol: relative decrease of the distortion
    over five steps at which L-BFGS stops; enough: norm of the projected gradient at which it does;
    memory: its pairs; batch: pairs of a round of the stochastic method, 0 for L-BFGS.
    """

    steps: int = 300
    tol: float = 0.0
    enough: float = 1e-5
    memory: int = 5
    batch: int = 0


@dataclass(frozen=True)
class Solution:
    """Vectors (n × m), and the course of the descent.

    values, norms: average distortion and norm of the projected gradient before the first step and
    after each; of the stochastic method, the distortion of each round's batch, and no norms;
    lengths: of each step relative to the vectors; distortion: at the end, of all pairs, or of those
    of the last round; terms: these pairs; norm: of the projected gradient there; reached: whether a
    tolerance stopped it, or all rounds are done; separated: whether coincident items had to be
    moved apart at the start.
    """

    vectors: Float32
    values: list[float]
    norms: list[float]
    lengths: list[float]
    distortion: float
    norm: float
    reached: bool
    separated: bool
    terms: Sequence[Term]


def get_problem(items: int, terms: Sequence[Term], context: Context) -> Any:
    """Return the problem on the device of the context."""
    if isinstance(context.ops, NumpyOps):
        return Problem(items, terms, context.pool)
    from wordgeom.methods.mde.torch_problem import TorchProblem

    return TorchProblem(items, terms, context.ops.device)


def solve(
    problem: Any, start: Float32, constraint: Constraint, settings: Settings, context: Context,
    rounds: Rounds | None = None,
) -> Solution:  # fmt: skip
    """Return the embedding that a descent from `start` (n × m) reaches.

    rounds: what changes from round to round; one round by default.
    Raises OptionError where no finite distortion is found at the start.
    """
    ops, saved = context.ops, context.checkpoint.restore()
    start, separated = _finite(problem, start, constraint, context)

    descent = (
        _proximal(problem, constraint, settings, context) if settings.batch
        else _descent(problem, constraint, settings, context, rounds)
    )  # fmt: skip
    state: Any = descent.start(start) if saved is None else descent.restored(saved)
    what = "rounds" if settings.batch else "steps"
    for _ in context.progress.follow(
        descent.iterations(state), what, descent.most, what, int, done=len(state.lengths)
    ):
        context.checkpoint.save(lambda: state.saved(ops))
    return _solution(descent, state, ops, separated)


def _proximal(problem: Any, constraint: Constraint, settings: Settings, context: Context) -> Any:
    terms = batches(list(problem.terms), settings.batch, np.random.default_rng(context.seed))
    parts = [get_problem(problem.items, part, context) for part in terms]
    return Proximal(problem, parts, context.ops, rounds=settings.steps, constraint=constraint,
                    seed=context.seed)  # fmt: skip


def _descent(
    problem: Any, constraint: Constraint, settings: Settings, context: Context,
    rounds: Rounds | None,
) -> Any:  # fmt: skip
    def next_problem(vectors: Float32, number: int) -> Any:
        assert rounds is not None
        return get_problem(problem.items, rounds.redrawn(vectors, number), context)

    several = None if rounds is None else (rounds.gathered, next_problem)
    return Descent(
        problem, several, context.ops, constraint,
        steps=settings.steps, tol=settings.tol, enough=settings.enough, memory=settings.memory,
        seed=context.seed,
    )  # fmt: skip


def _solution(descent: Any, state: Any, ops: Ops, separated: bool) -> Solution:
    distortion, norm = descent.end(state)
    return Solution(
        ops.to_numpy(state.x), state.values, getattr(state, "norms", []), state.lengths,
        distortion, norm, descent.reached(state), separated,
        descent.problem.terms,
    )  # fmt: skip


def _finite(
    problem: Any, start: Float32, constraint: Constraint, context: Context
) -> tuple[Float32, bool]:
    """Return a start with a finite distortion, and whether items had to be moved apart for it."""
    ops = context.ops

    def finite(vectors: Float32) -> bool:
        distortions = problem.distortions(constraint.onto(ops.tall(vectors, vectors.dtype)))
        return all(np.isfinite(float(each.sum())) for each in distortions)

    if finite(start):
        return start, False
    size = _APART * float(np.sqrt(np.mean(np.square(start, dtype=np.float64)))) or 1.0
    noise = np.random.default_rng(context.seed).standard_normal(start.shape, np.float32)
    moved = start + size * noise
    if finite(moved):
        return moved, True
    what = "the average distortion is infinite at the start"
    raise OptionError(what, do="start from other vectors, or choose another distortion function")
