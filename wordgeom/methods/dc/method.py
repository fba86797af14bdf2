"""Divide and conquer: eigenvectors of a first block, other words in blocks merged with it.

Algorithm 2 of Khalife, Gonçalves and Liberti (2022), §3.4, cuts the PMI matrix into diagonal blocks
that overlap along a chain, takes the largest eigenpairs of each, and aligns each block to the one
before by Procrustes (`--as-published`). Blocks of rare words hardly have an entry, so their vectors
are noise, and errors accumulate along the chain. The default therefore solves every later word
against the vectors of a common core, the first block, by least squares. Memory is bounded by the
first block and V × K. `--sweeps` adds weighted sweeps of `gbu`, which raise analogy scores. Where
an optimum with a tolerance is needed, use `pmi-eigs`. docs/methods/dc.md shows what each part adds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core import options as base
from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.core.formatting import first_few, several
from wordgeom.core.options import option
from wordgeom.core.row_blocks import BLOCK_ENTRIES
from wordgeom.core.types import Array, Int64
from wordgeom.matrices.interfaces import Matrix
from wordgeom.methods.contract import VECTORS, Result, Status
from wordgeom.methods.dc.design import (
    CORENESS,
    EIGS,
    FREQUENCY,
    GBU,
    RIGID,
    ROTATION,
    Design,
)  # fmt: skip
from wordgeom.methods.dc.plan import CHAIN, CORE, MERGES, Plan, make_plan
from wordgeom.methods.notes import PUBLISHED_MATRIX, rank_notes, unpublished_notes
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from wordgeom.linalg.eigensolver import EigenSettings
    from wordgeom.matrices.held_rows import HeldRows
    from wordgeom.methods.dc.merge import Merged
    from wordgeom.methods.gbu.finish import Settings

NEEDS = ("matrix",)
MAKES = (VECTORS,)

# Settings of --as-published, which reject other values.
_PUBLISHED: dict[str, Any] = {
    "order": CORENESS, "overlap": 0, "alignment": RIGID, "merge": CHAIN, "block_solver": EIGS,
    "sweeps": 0,
}  # fmt: skip
_BAD = 0.5  # relative error of an alignment above which a block is listed
_ROW, _FULL = 100, 12  # bytes: of a row besides its entries, of an entry of the full matrix
_DENSE = 5 * 8  # bytes of an element of a dense block while its eigenpairs are computed
_ROTATED, _SWEPT = 3, 5  # arrays (V × K) at the end, and in a sweep (gbu/cost.py)
_READ = 24  # bytes of an entry of stored rows while they are weighted
_MOST = 1 << 26  # entries gathered at a time


@dataclass(frozen=True)
class Options(base.Options):
    """Options of divide and conquer."""

    dim: int = option(100, "dimension of the vectors", low=1, metavar="K")
    order: str = option(
        FREQUENCY, "order of words: most frequent first, or highest k-core number first",
        choices=(FREQUENCY, CORENESS),
    )  # fmt: skip
    first_block: int = option(20_000, "words of the first block", low=1, metavar="N")
    block: int = option(800, "words of each later block", low=1, metavar="N")
    overlap: int = option(
        0, "words shared with an earlier block; 0: K + 1 (first block for core and gbu)", low=0,
        metavar="N",
    )  # fmt: skip
    merge: str = option(
        CORE, "what each block shares: words of the block before, of a tree, or a common core",
        choices=MERGES,
    )  # fmt: skip
    block_solver: str = option(
        GBU, "later blocks: eigenpairs, or least squares on the overlap", choices=(EIGS, GBU)
    )
    alignment: str = option(
        ROTATION, "alignment of blocks: rotation and translation, or rotation alone",
        choices=(RIGID, ROTATION),
    )  # fmt: skip
    sweeps: int = option(0, "weighted sweeps of gbu at the end", low=0, high=1000, metavar="N")
    tol: float = option(
        1e-3, "tolerance on the eigenpairs of the first block, relative to λ", low=1e-10, high=0.1
    )
    as_published: bool = option(
        False, "Algorithm 2 as published: PMI, coreness, a chain of rigid alignments"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.as_published:
            self.exclude_others(_PUBLISHED)
        if self.design.least_squares and self.is_set("alignment"):
            what = f"--alignment has no effect with --merge {CORE} and --block-solver {GBU}"
            raise OptionError(what, do=f"omit it, or pass --block-solver {EIGS}")

    @property
    def design(self) -> Design:
        """What these options stand for; raises OptionError for sizes that do not fit."""
        values = self.result_options() | (_PUBLISHED if self.as_published else {})
        del values["as_published"]
        return Design(**values)


def weighting(options: Options) -> dict[str, Any]:
    """Return the method's default options of the weighting."""
    return {"weighting": PUBLISHED_MATRIX["weighting"]} if options.as_published else {"neg": 0.2}


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return vectors (V × K) of merged blocks, after weighted sweeps.

    Raises RankError if K exceeds V or the first block has no positive eigenvalue, InputError if the
    matrix is one-sided or memory is insufficient.
    """
    matrix: Matrix = inputs["matrix"]
    V, K = len(matrix.frequencies), options.dim
    design = (options if matrix.has_counts else replace(options, sweeps=0)).design
    if not matrix.symmetric:
        do = "build it with --context both"
        raise InputError("dc needs a symmetric matrix, not one-sided counts", do=do)
    if V < K:
        raise RankError(f"--dim {K} exceeds the number of words, {V:,}", do="lower --dim")
    notes = unpublished_notes(matrix.made) if options.as_published else []
    if options.design.sweeps > design.sweeps:
        notes.append("the matrix has no counts, so there are no sweeps; train on counts instead")
    result = (_swept if design.sweeps else _unswept)(matrix, design, context)
    return replace(result, notes=[*notes, *result.notes])


def _unswept(matrix: Matrix, design: Design, context: Context) -> Result:
    """Return the merged vectors on their principal axes."""
    from wordgeom.linalg.gram import principal_axes

    vectors, facts, notes = _merged(matrix, design, context)
    ops, K = context.ops, design.dim
    rotated, rank = principal_axes(ops.tall(vectors, vectors.dtype), ops)
    facts["effective_rank"] = rank
    why = "the other eigenvalues are ≤ 0 or rounding errors"
    notes += rank_notes("the blocks span", rank, K, why, "raise --first-block or lower --dim")
    status = Status.of(missed=facts["missed"] > 0, deficient=rank < K)
    made = np.ascontiguousarray(ops.to_numpy(rotated), np.float32)
    return Result(made, notes=notes, statistics=facts, status=status)


def _swept(matrix: Matrix, design: Design, context: Context) -> Result:
    """Return the vectors of weighted sweeps from the merged ones."""
    from wordgeom.methods.gbu.finish import Start, mixed, swept

    def initial() -> Start:
        vectors, facts, notes = _merged(matrix, design, context)
        first = context.ops.tall(vectors, np.float32)
        return Start(first, facts | {"notes": notes}, multiplied=False)

    settings = _settings(matrix, design)
    state = swept(initial, matrix, design.dim, settings, context)
    notes = state.facts.pop("notes")
    result = mixed(state, settings, [], context.ops)
    missed = state.facts["missed"] > 0 or result.status is Status.REACHED_BUDGET
    status = Status.REACHED_BUDGET if missed else result.status
    return replace(result, notes=[*notes, *result.notes], status=status)


def _settings(matrix: Matrix, design: Design) -> Settings:
    """Return the defaults of gbu's sweeps of PMI, as many as these options ask for."""
    from wordgeom.methods.gbu.method import SQUARED, Options

    return Options(dim=design.dim, sweeps=design.sweeps, loss=SQUARED).settings(matrix)


def _merged(
    matrix: Matrix, design: Design, context: Context
) -> tuple[Array, dict[str, Any], list[str]]:
    """Return the merged vectors (V × K) in order of the words, statistics, and notes."""
    from wordgeom.linalg.eigensolver import EigenSettings
    from wordgeom.methods.dc.gather import Source
    from wordgeom.methods.dc.merge import Merging, merge

    K = design.dim
    order, rows = _ordered(matrix, design, context)
    overlap = min(design.overlap, len(order))
    plan = make_plan(order, design.first_block, design.own, overlap, design.merge, K + 1)
    seed = int(context.rng.integers(1 << 62))
    eigen = EigenSettings(K, tol=design.tol, restarts=30, seed=seed)
    source = Source(rows or matrix, plan, context.pool, inner=not design.least_squares)
    counts = source.counts()
    budget = _budget(matrix, rows, plan, counts, eigen, design, context)
    how = Merging(eigen, design.anchors, design.least_squares, design.rigid, budget)
    merged = merge(source, plan, counts, how, matrix.dtype, context)
    vectors = np.empty_like(merged.vectors)
    vectors[plan.order] = merged.vectors
    return vectors, _facts(merged, plan), _notes(merged, plan, design)


def _ordered(matrix: Matrix, design: Design, context: Context) -> tuple[Int64, HeldRows | None]:
    """Return the words (V) in the order of the blocks, and the rows that it was computed from."""
    from wordgeom.matrices.held_rows import HeldRows
    from wordgeom.matrices.symmetric import full_matrix
    from wordgeom.methods.gbu.anchors import by_coreness

    if design.order == FREQUENCY:
        return np.argsort(-matrix.frequencies, kind="stable"), None
    what, do = (
        "the pairs that decide the coreness of words",
        f"raise --memory, or pass --order {FREQUENCY}",
    )
    check_memory(what, matrix.entries * _FULL, context.memory, do)
    rows = HeldRows(matrix, context.pool)
    return by_coreness(full_matrix(rows, context.pool), matrix.frequencies), rows


def _budget(
    matrix: Matrix, rows: HeldRows | None, plan: Plan, counts: Int64, eigen: EigenSettings,
    design: Design, context: Context,
) -> int:  # fmt: skip
    """Return how many entries are gathered at a time; release rows that do not fit beside them.

    Raises InputError for too little memory.
    """
    from wordgeom.methods.dc.gather import AHEAD, CONVERTED, ENTRY

    V, K, size = len(plan.order), design.dim, int(plan.starts[1])
    vectors, itemsize = V * K * matrix.dtype.itemsize, matrix.dtype.itemsize
    read = (min(AHEAD, context.pool.threads) + 2) * BLOCK_ENTRIES
    held = vectors + V * _ROW + _READ * min(matrix.entries, read)
    first = (4 + itemsize) * int(counts[0]) + eigen.bytes(size)
    if design.least_squares:
        blocks = 12 * plan.overlap * K + 8 * design.own * K
    else:
        most = plan.overlap + int(np.diff(plan.starts)[1:].max(initial=0))
        blocks = _DENSE * most * most * 3 * context.pool.threads
    largest = int(counts[1:].max(initial=0))
    needed = max(
        held + max(first, blocks + (ENTRY + CONVERTED) * largest),
        (_SWEPT if design.sweeps else _ROTATED) * vectors,
    )
    what = f"the first block of {size:,} words and {V:,} vectors of dimension {K:,}"
    do = "lower --first-block, --block or --dim, or raise --memory"
    check_memory(what, needed, context.memory, do)
    kept = 0 if rows is None else rows.release_above(context.memory - needed)
    left = (context.memory - held - kept - blocks) // (2 * (ENTRY + CONVERTED))
    return int(min(_MOST, max(left, largest, 1)))


def _facts(merged: Merged, plan: Plan) -> dict[str, Any]:
    return {
        "blocks": plan.blocks, "first_block": int(plan.starts[1]), "overlap": plan.overlap,
        "block_residuals": merged.residuals, "alignment_errors": merged.errors,
        "isolated": merged.isolated, "missed": merged.missed,
    }  # fmt: skip


def _notes(merged: Merged, plan: Plan, design: Design) -> list[str]:
    V, K, notes = len(plan.order), design.dim, []
    if plan.blocks == 1:
        notes.append(f"all {V:,} words are in the first block")
    if merged.missed:
        pairs = several(merged.missed, "eigenpair misses", "eigenpairs miss")
        notes.append(f"{pairs} --tol {design.tol:g} in the first block")
    if merged.isolated:
        words = several(merged.isolated, "word has", "words have")
        notes.append(
            f"{words} no entry in the block: "
            + ("vectors at the block's origin" if design.rigid else "zero vectors")
        )
    low = [f"block {p + 1} ({rank})" for p, rank in enumerate(merged.ranks) if rank < K]
    if low and not design.least_squares:
        overlaps = several(len(low), "overlap has", "overlaps have")
        notes.append(f"{overlaps} rank below {K}: {first_few(low)}; raise --overlap")
    bad = [f"block {p + 1} ({error:.2f})" for p, error in enumerate(merged.errors) if error > _BAD]
    if bad:
        blocks = several(len(bad), "block aligns", "blocks align")
        notes.append(
            f"{blocks} badly (relative error above {_BAD}): {first_few(bad)}; "
            f"raise --overlap, or pass --merge {CORE}"
        )
    return notes
