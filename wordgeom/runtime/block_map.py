"""The block map: one function over many blocks, on the threads of a run, resumable.

The unit of work is `compute(block, spec) -> arrays`. Its result depends on the block and on `spec`
alone, so that a block may be computed on any thread, in any run, or be read back from a checkpoint.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

import numpy as np

from wordgeom.runtime.context import Context
from wordgeom.runtime.scheduler import PoolScheduler, Result

_Block = TypeVar("_Block")
_Spec = TypeVar("_Spec")


def map_blocks(
    compute: Callable[[_Block, _Spec], Result],
    blocks: Sequence[_Block],
    spec: _Spec,
    context: Context,
    name: str,
    *,
    ahead: int | None = None,
    serial: bool = False,
    portable: bool = False,
) -> Iterator[Result]:
    """Yield compute(block, spec) for every block, in order.

    name: of the results in the checkpoint, unique within a run. ahead: blocks computed beyond the
    one that is awaited, None for twice the threads. serial: compute on the calling thread, for a
    `compute` that uses the pool itself. portable: a cluster may compute the blocks (Scheduler). A
    result that an interrupted run saved is read back instead of being computed.
    """
    checkpoint = context.checkpoint
    names = [f"{context.prefix}{name}-{number}" for number in range(len(blocks))]
    saved = [checkpoint.holds(one) for one in names]
    missing = [block for block, found in zip(blocks, saved, strict=True) if not found]
    computed: Iterator[Result] = (compute(block, spec) for block in missing)
    if not serial:
        scheduler = context.scheduler if portable else PoolScheduler(context.pool)
        computed = scheduler.map(compute, missing, spec, ahead)
    for one, found in zip(names, saved, strict=True):
        if found:
            yield checkpoint.find(one)
        else:
            result = next(computed)
            checkpoint.keep(one, result)
            yield result


def map_joined(
    compute: Callable[[_Block, _Spec], Result],
    blocks: Sequence[_Block],
    spec: Callable[[], _Spec],
    context: Context,
    name: str,
    together: int,
) -> Iterator[Result]:
    """Yield compute(block, spec()) for every block, in order; all blocks are portable.

    For results too small to be saved one by one: those of `together` blocks are joined along their
    last axes and saved as one. An interrupted run's are yielded as they were saved. spec: called
    once, and only if a block is to be computed.
    """
    checkpoint = context.checkpoint
    groups = [blocks[at : at + together] for at in range(0, len(blocks), together)]
    names = [f"{context.prefix}{name}-{number}" for number in range(len(groups))]
    held = [checkpoint.holds(one) for one in names]
    missing = [b for group, found in zip(groups, held, strict=True) if not found for b in group]
    computed: Iterator[Result] = iter(())
    if missing:
        computed = context.scheduler.map(compute, missing, spec())
    for one, group, found in zip(names, groups, held, strict=True):
        if found:
            yield checkpoint.find(one)
            continue
        results = []
        for result in islice(computed, len(group)):
            results.append(result)
            yield result
        parts = {part: [result[part] for result in results] for part in results[0]}
        checkpoint.keep(one, {part: np.concatenate(few, axis=-1) for part, few in parts.items()})


def saved(name: str, compute: Callable[[], Result], context: Context) -> Result:
    """Return compute(), or the result that an interrupted run saved under this name."""
    name = f"{context.prefix}{name}"
    if context.checkpoint.holds(name):
        return context.checkpoint.find(name)
    result = compute()
    context.checkpoint.keep(name, result)
    return result
