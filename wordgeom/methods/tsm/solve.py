"""Thresholded similarity matching: from points to vectors of fewer dimensions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Float32, Float64
from wordgeom.linalg.numpy_ops import NumpyOps
from wordgeom.methods.tsm.alternation import OFF, Alternation, Constraint, State
from wordgeom.methods.tsm.embedding import Embedding, embed
from wordgeom.methods.tsm.factors import start_of
from wordgeom.methods.tsm.recomputed import RecomputedTarget
from wordgeom.methods.tsm.similarities import Similarities, similarities
from wordgeom.methods.tsm.targets import StoredTarget, Target
from wordgeom.methods.tsm.virtual import virtual_inputs
from wordgeom.runtime.context import Context


@dataclass(frozen=True)
class Settings:
    """How to match: rank d, τ, updates, γ, the constraint on Σ Z, and whether Z is stored."""

    d: int
    threshold: float
    updates: int = 250
    momentum: float = 0.9
    constraint: str = OFF
    low_memory: bool = False


@dataclass(frozen=True)
class Matching:
    """The result for n points.

    vectors (n × d) float32; objectives: before each update, and at the end; shifts: updates with
    δ ≠ 0; similar: of the points and the virtual ones; similar_pairs: of points alone; alone:
    points without similar others; virtual: virtual inputs.
    """

    vectors: Float32
    embedding: Embedding
    objectives: list[float]
    shifts: int
    similar: Similarities
    similar_pairs: int
    alone: int
    virtual: int

    @property
    def relative(self) -> list[float]:
        """The objectives relative to ‖S‖²."""
        square = self.similar.square
        return [objective / square for objective in self.objectives]


def match(
    points: Float64,
    settings: Settings,
    context: Context,
    check: Callable[[Similarities, int], None] = lambda _similar, _alone: None,
) -> Matching:
    """Return vectors (n × d) that match the thresholded similarities of nonzero points (n × K).

    check: is called with S and the number of points alone, before the work; it may raise.
    """
    pool, progress = context.pool, context.progress
    similar = similarities(points, settings.threshold, pool, progress)
    alone = np.flatnonzero(similar.degrees == 1)
    check(similar, len(alone))
    pairs = (similar.positive - len(points)) // 2
    added = virtual_inputs(points, alone, settings.threshold, pool)
    every = np.concatenate((points, added)) if len(added) else points
    if len(added):
        similar = similarities(every, settings.threshold, pool, progress)
    state, end = _alternate(every, similar, settings, context)
    made = embed(state.L, settings.threshold, settings.d, context.ops)
    vectors = made.vectors[: len(points)].astype(np.float32)
    objectives = [*state.objectives, end]
    return Matching(vectors, made, objectives, state.shifts, similar, pairs, len(alone), len(added))


def _alternate(
    points: Float64, similar: Similarities, settings: Settings, context: Context
) -> tuple[State, float]:
    """Return the state after all updates, and the objective of its L."""
    ops, n = context.ops, len(points)
    target = _target(similar, settings, context)
    constraint = Constraint(settings.constraint, similar.total, n * n - similar.positive)
    saved = context.checkpoint.restore()
    if saved is None:
        tall = ops.tall(points, np.float32)
        state = State(start_of(tall, settings.d, settings.threshold, ops))
    else:
        state = State.restored(saved, ops)
        target.restore(saved)
    alternation = Alternation(target, constraint, settings.momentum, settings.d, ops)
    rounds = alternation.iterations(state, settings.updates)
    done = len(state.objectives)
    for _ in context.progress.follow(rounds, "updates", settings.updates, "updates", int, done):
        context.checkpoint.save(lambda: {**state.saved(ops), **target.state()})
    return state, alternation.objective(state.L)


def _target(similar: Similarities, settings: Settings, context: Context) -> Target:
    """Return Z on the device of the context."""
    panels, momentum = similar.panels, settings.momentum > 0.0
    if isinstance(context.ops, NumpyOps):
        if settings.low_memory:
            return RecomputedTarget(panels, context.ops, context.pool)
        return StoredTarget(panels, context.pool, momentum=momentum)
    from wordgeom.methods.tsm.torch_targets import TorchRecomputed, TorchStored

    if settings.low_memory:
        return TorchRecomputed(panels, context.ops)
    return TorchStored(panels, context.ops.device, momentum=momentum)
