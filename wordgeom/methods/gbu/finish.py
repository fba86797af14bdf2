"""Weighted sweeps from any start to vectors: resumable, with pairs on disk if they are many."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wordgeom.core.formatting import several
from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Csr, Float32
from wordgeom.matrices.interfaces import Matrix, Visit
from wordgeom.methods.contract import Result, Status
from wordgeom.methods.gbu import cost
from wordgeom.methods.gbu.balanced_factors import mix_factors
from wordgeom.methods.gbu.logistic_sweeps import LogisticLoss
from wordgeom.methods.gbu.sweep_state import State, Sweeps, restored, saved
from wordgeom.methods.gbu.weighted_sweeps import Loss
from wordgeom.methods.notes import rank_notes
from wordgeom.runtime.context import Context
from wordgeom.storage.memmap import in_memory, on_disk

_TOL = 1e-2  # relative tolerance on a row in a weighted sweep: the next sweep moves it further


@dataclass(frozen=True)
class Settings:
    """The loss, the number of sweeps, the weight of the context vectors; power: of Σ."""

    loss: Loss | LogisticLoss
    sweeps: int
    mix: float
    power: float


@dataclass(frozen=True)
class Start:
    """Where sweeps start, with facts for the run card.

    vectors (V × K): G times them, if `multiplied`, are the first word and context vectors.
    """

    vectors: Tall
    facts: dict[str, Any]
    multiplied: bool


def swept(
    initial: Callable[[], Start], matrix: Matrix, K: int, settings: Settings, context: Context
) -> State:
    """Return the state after all weighted sweeps.

    initial: not called in a resumed run, and before all pairs are read, which take more memory.
    """
    ops, halves = context.ops, 2 * settings.sweeps
    state = restored(context.checkpoint, ops)
    if state is None:
        state, pattern, counts = _started(initial(), matrix, K, settings, context)
    else:
        pattern, counts = _pairs(matrix, K, settings.loss, None, context)
    state.empty = int(np.count_nonzero(np.diff(pattern.indptr) == 0))
    sweeps = settings.loss.sweeps(pattern, counts, K, ops)
    for _ in context.progress.follow(
        half_sweeps(state, sweeps, halves, _TOL), "weighted sweeps", halves, "half sweeps", int,
        done=state.halves,
    ):  # fmt: skip
        context.checkpoint.save(lambda: saved(state, ops))
    sweeps.finish(state)
    return state


def _started(
    start: Start, matrix: Matrix, K: int, settings: Settings, context: Context
) -> tuple[State, Csr, Float32]:
    """Return the state before the first half sweep, and what _pairs returns."""
    ops, first, visit = context.ops, start.vectors, None
    if start.multiplied:
        first = ops.empty(len(matrix.frequencies), K, np.float32)
        visit = partial(_multiply, start.vectors, first, ops)
    pattern, counts = _pairs(matrix, K, settings.loss, visit, context)
    second = ops.tall(ops.to_numpy(first), np.float32)
    return State(first, second, facts=start.facts), pattern, counts


def half_sweeps(state: State, sweeps: Sweeps, halves: int, tol: float) -> Iterator[int]:
    """Run half sweeps on `state` until there are `halves`; yield 1 after each.

    tol: relative tolerance on each row.
    """
    while state.halves < halves:
        contexts = state.halves % 2 == 0
        other, start = (state.v, state.u) if contexts else (state.u, state.v)
        # The vectors of the first half of the sweeps are still far from the result.
        half = sweeps.half(other, start, contexts, early=2 * state.halves < halves, tol=tol)
        if contexts:
            state.u = half.solution
        else:
            state.v = half.solution
        state.objectives.append(half.objective)
        state.steps += half.steps
        state.missed = half.missed
        yield 1


def mixed(state: State, settings: Settings, notes: list[str], ops: Ops) -> Result:
    """Return the mixed word and context vectors; notes: on the start, if its rank is below K."""
    K = state.v.shape[1]
    both, sigma = mix_factors(state.v, state.u, settings.mix, settings.power, ops)
    vectors = ops.to_numpy(both).astype(np.float32, copy=False)
    statistics = state.facts | {
        "sweeps": settings.sweeps, "objective": state.objectives, "steps": state.steps,
        "zero_vectors": state.empty, "effective_rank": len(sigma),
        "singular_values": sigma.tolist(), "eig": settings.power,
    }  # fmt: skip
    notes = notes or rank_notes(
        "weighted sweeps left", len(sigma), K, "the L2 penalty removed the others",
        f"lower --dim or {settings.loss.penalty_option}",
    )  # fmt: skip
    status = Status.of(missed=state.missed > 0, deficient=len(sigma) < K)
    return Result(vectors, {}, notes + _sweep_notes(state), statistics, status)


def _multiply(factor: Tall, product: Tall, ops: Ops, first: int, rows: Csr) -> None:
    """Set rows of the product (V × K), from row `first`, to rows of G times the factor (V × K)."""
    product[first : first + rows.rows] = ops.operator(rows).multiply(factor)


def _pairs(
    matrix: Matrix, K: int, loss: Loss | LogisticLoss, visit: Visit | None, context: Context
) -> tuple[Csr, Float32]:
    """Return the targets of all pairs and their counts, on disk if they exceed the memory.

    Where the loss needs no targets, the counts are in their place. visit gets all rows of G.
    """
    V, targets = len(matrix.frequencies), loss.needs_targets
    fits = cost.pairs_fit(V, matrix.entries, K, context.memory, targets=targets)
    allocate = in_memory if fits else on_disk(context.scratch)
    if not targets:
        counts = matrix.pair_counts(visit, allocate)
        assert counts is not None  # the matrix has counts
        return counts, counts.data
    pairs = matrix.with_counts(allocate)
    assert pairs is not None
    if visit is not None:
        visit(0, pairs[0])
    return pairs


def _sweep_notes(state: State) -> list[str]:
    notes = []
    if state.empty:
        words = several(state.empty, "word does", "words do")
        notes.append(f"{words} not co-occur with any other word: zero vectors")
    if state.missed:
        rows = several(state.missed, "row", "rows")
        notes.append(f"{rows} of the last half sweep missed the tolerance {_TOL:g}")
    return notes
