"""The rows of a chunk, counted on a cluster in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Csr, offsets
from wordgeom.counts.count_rows import Rows, Workspace
from wordgeom.counts.occurrences import Occurrences
from wordgeom.counts.plan import Plan
from wordgeom.runtime.scheduler import Result, Scheduler, Shared

WORTH = 1 << 27  # window tokens of a chunk, from which it is worth the messages: about .4 s
_BLOCKS = 4  # consecutive blocks of a task: about .2 s
_Blocks = list[tuple[int, int]]


@dataclass(frozen=True)
class _Chunk:
    """The arrays of Occurrences, the plan, and the entries of the largest block."""

    arrays: tuple[Shared, ...]
    plan: Plan
    room: int


def count_on_cluster(
    found: Occurrences, blocks: _Blocks, plan: Plan, workspace: Workspace, room: int,
    scheduler: Scheduler,
) -> Iterator[Rows]:  # fmt: skip
    """Yield the rows of the blocks, in order, and add them to the sums of the workspace.

    room: the most entries of a block.
    """
    tasks = [blocks[k : k + _BLOCKS] for k in range(0, len(blocks), _BLOCKS)]
    shared = tuple(scheduler.share(array) for array in found.arrays)
    done = scheduler.map(_count, tasks, _Chunk(shared, plan, room))
    for task, counted in zip(tasks, done, strict=True):
        lengths, indices, values = (counted[name] for name in ("lengths", "indices", "values"))
        workspace.add(task[0][0], Csr(offsets(lengths), indices, values, plan.words))
        yield Rows(task[0][0], lengths, indices, values)
    scheduler.release(*shared)


def _count(blocks: _Blocks, spec: _Chunk) -> Result:
    """Return the lengths, columns and counts of some rows."""
    plan = spec.plan
    found = Occurrences.of(*(shared.open() for shared in spec.arrays))
    workspace = Workspace(plan.words, plan.symmetric, spec.room, plan.dtype)
    parts = [workspace.count(*block, found.kernel(block, plan)).rows for block in blocks]
    return {
        "lengths": np.concatenate([part.lengths for part in parts]),
        "indices": np.concatenate([part.indices for part in parts]),
        "values": np.concatenate([part.values for part in parts]),
    }
