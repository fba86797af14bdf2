"""The vectors of all blocks: the first block, then every later one, placed in order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Float64, Int64, offsets
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.eigensolver import EigenSettings, largest_eigenpairs
from wordgeom.methods.dc.block_group import Common, solve_group
from wordgeom.methods.dc.blocks import ROUNDING, Core, Placed, place
from wordgeom.methods.dc.gather import Source
from wordgeom.methods.dc.plan import CORE, Plan
from wordgeom.runtime.block_map import saved
from wordgeom.runtime.context import Context

_PART = 1 << 15  # values squared at a time


@dataclass(frozen=True)
class Merging:
    """How blocks are solved and merged.

    anchors: number of words, the first ones, whose eigenpairs realise a later block; core: solve
    own words against a common core's vectors, by least squares; rigid: align with a translation;
    budget: entries gathered at a time.
    """

    eigen: EigenSettings
    anchors: int
    core: bool
    rigid: bool
    budget: int


@dataclass
class Merged:
    """vectors (V × K) by position, and what is known of each block (lists of P, first block first).

    residuals: ‖G − X Xᵀ‖ / ‖G‖; errors, ranks: of the alignment, 0 and K where there is none;
    isolated: own words without an entry in their block; missed: eigenpairs beyond the tolerance.
    """

    vectors: Array
    residuals: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)
    ranks: list[int] = field(default_factory=list)
    isolated: int = 0
    missed: int = 0


def merge(
    source: Source, plan: Plan, counts: Int64, how: Merging, dtype: np.dtype[Any], context: Context
) -> Merged:
    """Return the merged vectors, in dtype; counts (P): entries of each block."""
    K, size = how.eigen.pairs, int(plan.starts[1])
    shared = plan.overlap if plan.merge == CORE and not how.core else 0
    first = saved("first", partial(_first, source, shared, how, context), context)
    merged = Merged(np.zeros((len(plan.order), K), dtype))
    merged.vectors[:size] = first["vectors"]
    merged.residuals.append(float(first["residual"]))
    merged.errors.append(0.0)
    merged.ranks.append(K)
    merged.isolated, merged.missed = int(first["isolated"]), int(first["missed"])
    if plan.blocks > 1:
        with one_thread():
            _later(source, plan, counts, first["shared"], how, merged, context)
    return merged


def _first(source: Source, shared: int, how: Merging, context: Context) -> Mapping[str, Array]:
    """Return U Λ⁺^½ (n₁ × K) of the first block, and the entries between its first words."""
    ops, wanted = context.ops, how.eigen
    block, at = source.first_block()
    found = largest_eigenpairs(
        ops.operator(block), wanted, ops, checkpoint=context.checkpoint,
        follow=lambda checks: context.progress.follow(
            checks, "first block", wanted.pairs, "pairs", lambda check: check.gained
        ),
    )  # fmt: skip
    values = found.values
    positive = values > ROUNDING[block.data.dtype.name] * max(values[0], 0.0)
    if not positive.any():
        what = f"the first block of {block.rows:,} words has no positive eigenvalue"
        raise RankError(what, do="raise --first-block, or check the matrix")
    roots = np.sqrt(values, where=positive, out=np.zeros_like(values))
    norm = _sum_of_squares(block.data)
    residual = np.sqrt(max(0.0, norm - float(np.sum(roots**4))) / norm)
    vectors = np.empty_like(found.vectors)
    vectors[at] = found.vectors * roots.astype(found.vectors.dtype)
    return {
        "vectors": vectors,
        "residual": np.array(residual),
        "isolated": np.array(np.count_nonzero(np.diff(block.indptr) == 0)),
        "missed": np.array(np.count_nonzero(~found.converged & positive)),
        "shared": source.leading(shared),
    }


def _sum_of_squares(values: Array) -> float:
    """Return the sum in float64, from parts whose squares fit in a core's cache."""
    parts = (values[start : start + _PART] for start in range(0, len(values), _PART))
    return sum(float(np.square(part, dtype=np.float64).sum()) for part in parts)


def _later(
    source: Source, plan: Plan, counts: Int64, shared: Float64, how: Merging, merged: Merged,
    context: Context,
) -> None:  # fmt: skip
    """Place the later blocks in order; solve them in groups whose entries fit in memory."""
    vectors, ops, K = merged.vectors, context.ops, how.eigen.pairs
    core = Core.of(ops.tall(vectors[: plan.overlap], vectors.dtype), ops) if how.core else None
    given = Common(plan.overlap, how.anchors, shared, K, core)

    def results() -> Iterator[Mapping[str, Array]]:
        for low, high in row_blocks(offsets(counts), plan.blocks, how.budget, 1):
            entries, begins = source.entries(low, high, counts)
            own = [plan.own(p) for p in range(low, high)]
            name = f"blocks-{low}"  # and the number from there: the same in groups of any size
            yield from solve_group(entries, begins, own, given, context, name)

    done = context.progress.follow(results(), "blocks", plan.blocks - 1, "blocks", lambda _: 1)
    for p, block in enumerate(done, 1):
        own, begin = slice(plan.starts[p], plan.starts[p + 1]), plan.begins[p]
        if core is None:
            near = vectors[begin : begin + plan.overlap].astype(np.float64)
            placed = place(block["vectors"], near, rigid=how.rigid, dtype=vectors.dtype.name)
        else:
            placed = Placed(block["vectors"], 0.0, core.rank)
        vectors[own] = placed.vectors
        merged.residuals.append(float(block["residual"]))
        merged.errors.append(placed.error)
        merged.ranks.append(placed.rank)
        merged.isolated += int(block["isolated"])
