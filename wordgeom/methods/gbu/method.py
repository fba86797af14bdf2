"""Geometric build-up: least squares on a few anchor words, then weighted sweeps over all of them.

Khalife, Gonçalves and Liberti (2022), Algorithm 1, builds vectors on the eigenvectors of m frequent
words' block (buildup/algorithm1.py). It reads m columns, which makes it fast, and sees nothing of
the others. Sweeps mend that: each solves all rows against all others. Weighted ones (the default,
buildup/weighted.py) trust a pair as far as it was counted; plain ones (`--no-weighted`,
buildup/sweeps.py) tend to the eigenvectors that `pmi-eigs` finds. `--as-published` is Algorithm 1
to the letter; docs/methods/gbu.md tells with figures what each part adds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core import options as base
from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.core.formatting import several
from wordgeom.core.options import option
from wordgeom.core.types import Csr, Float32, Int64
from wordgeom.matrices.interfaces import Matrix
from wordgeom.methods.contract import VECTORS, Result
from wordgeom.methods.gbu import cost
from wordgeom.methods.gbu.anchors import CHOICES, choose
from wordgeom.runtime.context import Context
from wordgeom.storage.memmap import in_memory, on_disk

if TYPE_CHECKING:
    from wordgeom.methods.gbu.algorithm1 import Built
    from wordgeom.methods.gbu.weighted_sweeps import Loss, State

NEEDS = ("matrix",)
MAKES = (VECTORS,)

_PAPERS_ANCHORS, _ANCHORS = 4, 10  # times K: the paper's (§5), and what sweeps start from
_PAPERS_EIG = 0.5
_TOL = 1e-2  # of a row's residual in a weighted sweep: the next sweep moves it farther
_START_SHARE = 2  # 1/… more columns than --dim are carried by plain sweeps
# What as published differs from the default, and cannot be given beside --as-published.
_PAPERS: dict[str, Any] = {"anchors": 0, "anchor_choice": "frequency", "eig": _PAPERS_EIG}
_OF_WEIGHTED = ("x_max", "alpha", "background", "ridge", "mix")  # mean nothing to the others


@dataclass(frozen=True)
class Options(base.Options):
    """What the build-up can be told."""

    dim: int = option(100, "dimension of the vectors", low=1, metavar="K")
    anchors: int = option(
        0, "how many words to build on, 0 for 10 times --dim (without sweeps: 4 times)", low=0,
        metavar="M",
    )  # fmt: skip
    anchor_choice: str = option(
        "frequency", "which words to build on: the most frequent; those of the densest core of the "
        "graph (coreness); those that weigh most in a first fit (leverage); any (random)",
        choices=CHOICES,
    )  # fmt: skip
    sweeps: int = option(
        3, "how often all rows are solved anew; 0: the build-up alone", low=0, high=1000,
        metavar="N",
    )  # fmt: skip
    weighted: bool = option(True, "weight the sweeps by how often each pair was counted")
    x_max: float = option(20.0, "a count from which on a pair has full weight", low=1e-6, high=1e12)
    alpha: float = option(0.5, "power of counts below --x-max", low=0.0, high=2.0)
    background: float = option(
        0.05, "weight of all pairs, counted or not, as if their PMI were 0", low=0.0, high=1e6
    )
    ridge: float = option(
        3.0, "weight of the vectors' own squares at --dim 100; grows with its square, up to 300",
        low=0.0, high=1e9,
    )  # fmt: skip
    mix: float = option(
        0.2, "weight of the second of a word's two vectors: 1 keeps what words share with their "
        "company, 0 also what they differ from it in", low=0.0, high=1.0, metavar="P",
    )  # fmt: skip
    eig: float = option(
        _PAPERS_EIG, "power of the eigenvalues: ½ for inner products, 0 for equal weights",
        low=0.0, high=1.0, metavar="P",
    )  # fmt: skip
    as_published: bool = option(False, "Algorithm 1 to the letter: 4 times --dim anchors, no sweep")

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, papers in _PAPERS.items():
            if self.as_published and getattr(self, name) != papers:
                what = f"--as-published has its own {base.flag(name)}"
                do = "give one of the two"
                raise OptionError(what, found=f"{base.flag(name)} {getattr(self, name)}", do=do)
        if self.in_weighted_sweeps and self.eig != _PAPERS_EIG:
            do = "pass --no-weighted too, or leave it out"
            raise OptionError("weighted sweeps have no eigenvalues", found="--eig", do=do)

        for field in fields(self):
            given = getattr(self, field.name) != field.default
            if given and field.name in _OF_WEIGHTED and not self.in_weighted_sweeps:
                what = f"{base.flag(field.name)} is for weighted sweeps"
                raise OptionError(what, found=self._unweighted, do="leave one of the two out")

    @property
    def loss(self) -> Loss:
        """What weighted sweeps minimise."""
        from wordgeom.methods.gbu.weighted_sweeps import Loss

        return Loss(self.x_max, self.alpha, self.background, self.ridge)

    @property
    def _unweighted(self) -> str:
        """The option by which no sweep is weighted."""
        if self.as_published:
            return "--as-published"
        return f"--sweeps {self.sweeps}" if self.weighted else "--no-weighted"

    @property
    def in_weighted_sweeps(self) -> bool:
        """Whether these options ask for weighted sweeps."""
        return self.weighted and self.sweeps > 0 and not self.as_published


def weighting(options: Options) -> dict[str, Any]:
    """Return what the method wants of the weighting unless told otherwise."""
    return {"neg": 0.2} if options.in_weighted_sweeps else {}


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Build vectors up from anchors; raises RankError where K is more than there is, InputError."""
    matrix: Matrix = inputs["matrix"]
    if not matrix.symmetric:
        raise InputError(
            "gbu needs a symmetric matrix", found="counts of one side", do="count --context both"
        )
    sweeps = 0 if options.as_published else options.sweeps
    m, notes = _anchor_number(matrix.frequencies, options)
    weighted = options.in_weighted_sweeps and matrix.has_counts
    cost.check(
        matrix, m, options.dim, context.memory,
        sweeps=sweeps, weighted=weighted, choice=options.anchor_choice,
    )  # fmt: skip
    if weighted:
        made = _weighted(matrix, m, options, context)
    else:
        made = _unweighted(matrix, m, options, sweeps, context)
        if options.in_weighted_sweeps:
            notes.append(
                "this matrix holds weights, not counts: its sweeps are plain ones; train on counts"
            )
    return Result(made.vectors, notes=[*notes, *made.notes], statistics=made.statistics)


def _unweighted(matrix: Matrix, m: int, options: Options, sweeps: int, context: Context) -> Result:
    """Return the build-up, or plain sweeps that began there."""
    from wordgeom.methods.gbu import plain_sweeps as plain

    K, V = options.dim, len(matrix.frequencies)
    carried = min(K + -(-K // _START_SHARE), m) if sweeps else K
    # Of sweeps the span alone counts, and inner products keep it from rounding.
    eig = _PAPERS_EIG if sweeps else options.eig
    built, lonely = _built(matrix, m, carried, eig, options, context)
    statistics = _statistics(built, m, lonely)
    if not sweeps:
        notes = _anchor_notes(built.rank, K) + _lonely_notes(lonely, m)
        return Result(np.ascontiguousarray(built.vectors, np.float32), {}, notes, statistics)
    ops, operator = context.ops, context.ops.operator(matrix.full())
    tall = ops.tall(built.vectors, built.vectors.dtype)

    def steps() -> Iterator[int]:
        nonlocal tall
        for _ in range(sweeps):
            tall = plain.sweep(operator, tall, ops)
            yield V

    for _ in context.progress.follow(steps(), "sweeps", sweeps * V, "rows", int):
        pass
    swept = plain.ritz(operator, tall, K, ops)
    rank = int(np.count_nonzero(swept.values > 0.0))
    statistics |= {
        "sweeps": sweeps, "effective_rank": rank, "spectrum": swept.values.tolist(),
        "non_positive": len(swept.values) - rank,
    }  # fmt: skip
    made = plain.scaled(swept, K, options.eig, ops).astype(np.float32)
    return Result(made, {}, _ritz_notes(rank, K), statistics)


def _weighted(matrix: Matrix, m: int, options: Options, context: Context) -> Result:
    """Return both sides of weighted sweeps that began at the build-up, joined as --mix says."""
    from wordgeom.linalg.row_solver import zero_objective
    from wordgeom.methods.gbu import weighted_sweeps
    from wordgeom.methods.gbu.balanced_factors import joined

    ops, halves = context.ops, 2 * options.sweeps
    loss = options.loss
    shape = (len(matrix.frequencies), options.dim)
    state = weighted_sweeps.restored(context.checkpoint, shape, ops)
    targets, counts = _counted(matrix, options, context)
    if state is None:
        state = _started(matrix, targets, m, options, context)
    weights = weighted_sweeps.confidences(counts, loss)
    solver = ops.row_solver(targets, weights)
    worst = zero_objective(targets, weights)
    made = weighted_sweeps.half_sweeps(state, solver, worst, loss, halves, _TOL, ops)
    for _ in context.progress.follow(made, "weighted", halves, "halves", int, done=state.halves):
        if context.checkpoint is not None:
            context.checkpoint.save(lambda: weighted_sweeps.saved(state, ops))
    empty = int(np.count_nonzero(np.diff(targets.indptr) == 0))
    statistics = state.facts | {
        "sweeps": options.sweeps, "objective": state.objectives, "steps": state.steps,
        "zero_vectors": empty,
    }  # fmt: skip
    one, sigma = joined(state.v, state.u, options.mix, ops)
    statistics |= {"effective_rank": len(sigma), "singular_values": sigma.tolist()}
    vectors = ops.to_numpy(one).astype(np.float32, copy=False)
    notes = _anchor_notes(state.facts["effective_rank"], options.dim)
    notes = notes or _left_notes(len(sigma), options.dim)
    notes += _sweep_notes(state, empty)
    return Result(vectors, {}, notes, statistics)


def _counted(matrix: Matrix, options: Options, context: Context) -> tuple[Csr, Float32]:
    """Return targets and counts, on the disk where they do not fit beside the vectors."""
    fits = cost.pairs_fit(matrix, options.dim, context.memory)
    found = matrix.with_counts(in_memory if fits else on_disk(context.scratch))
    assert found is not None, "has_counts said so"
    return found


def _started(matrix: Matrix, targets: Csr, m: int, options: Options, context: Context) -> State:
    """Return where weighted sweeps begin: the build-up after a plain sweep, as v and as u."""
    from wordgeom.methods.gbu.plain_sweeps import sweep
    from wordgeom.methods.gbu.weighted_sweeps import State

    built, lonely = _built(matrix, m, options.dim, _PAPERS_EIG, options, context)
    ops, kind = context.ops, targets.data.dtype
    first = sweep(ops.operator(targets), ops.tall(built.vectors, kind), ops)
    return State(first, ops.tall(ops.to_numpy(first), kind), facts=_statistics(built, m, lonely))


def _built(
    matrix: Matrix, m: int, K: int, eig: float, options: Options, context: Context
) -> tuple[Built, int]:
    """Return Algorithm 1's vectors, and how many words have no entry with an anchor."""
    from wordgeom.methods.gbu.algorithm1 import build_up

    anchors = choose(matrix, m, K, options.anchor_choice, context.rng, context.ops)
    columns = matrix.columns(anchors)
    built = build_up(columns, anchors, K, eig, context.ops)
    return built, int(np.count_nonzero(np.diff(columns.indptr) == 0))


def _statistics(built: Built, m: int, lonely: int) -> dict[str, Any]:
    return {
        "anchors": m,
        "effective_rank": built.rank,
        "zero_vectors": lonely,
        "largest_eigenvalue": float(built.eigenvalues[0]),
        "smallest_eigenvalue": float(built.eigenvalues[-1]),
    }


def _anchor_number(frequencies: Int64, options: Options) -> tuple[int, list[str]]:
    """Return how many anchors there are, and what to tell of it."""
    V, K = len(frequencies), options.dim
    if V < K:
        raise RankError(f"--dim {K} is more than there are words", found=V, do="lower --dim")
    papers = options.as_published or not options.sweeps
    wanted = options.anchors or (_PAPERS_ANCHORS if papers else _ANCHORS) * K
    m = min(wanted, V)
    if m < K:
        what = f"--dim {K} is more than there are anchors"
        raise RankError(what, found=m, do=f"raise --anchors to {K} or more, or lower --dim")
    return m, [f"all {V:,} words are anchors, fewer than {wanted:,}"] if m < wanted else []


def _anchor_notes(rank: int, K: int) -> list[str]:
    why = "the other eigenvalues are ≤ 0 or rounding"
    return _rank_notes("the anchors carry", rank, K, why, "raise --anchors or lower --dim")


def _ritz_notes(rank: int, K: int) -> list[str]:
    why = "the other Ritz values are ≤ 0, or there are no more"
    return _rank_notes("sweeps found", rank, K, why, "lower --dim")


def _left_notes(rank: int, K: int) -> list[str]:
    why = "the ridge took the others"
    return _rank_notes("weighted sweeps left", rank, K, why, "lower --dim or --ridge")


def _rank_notes(found: str, rank: int, K: int, why: str, do: str) -> list[str]:
    if rank == K:
        return []
    return [f"{found} {rank} of {K} dimensions ({why}): {K - rank} columns are zero; {do}"]


def _lonely_notes(lonely: int, anchors: int) -> list[str]:
    if not lonely:
        return []
    words = several(lonely, "word has no entry", "words have no entry")
    return [f"{words} with any of the {anchors:,} anchors: zero vectors"]


def _sweep_notes(state: State, empty: int) -> list[str]:
    notes = []
    if empty:
        notes.append(
            f"{several(empty, 'word was', 'words were')} counted with no other: zero vectors"
        )
    if state.missed:
        rows = several(state.missed, "row", "rows")
        notes.append(f"{rows} of the last half sweep missed the tolerance {_TOL:g}")
    return notes
