"""The rows of a chunk, counted on a cluster in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wordgeom.counts.count_rows import Rows, Workspace
from wordgeom.counts.occurrences import Occurrences
from wordgeom.counts.plan import Plan
from wordgeom.counts.remote_rows import Blocks, received, result_of, tasks_of
from wordgeom.runtime.scheduler import Result, Scheduler, Shared, share_all

WORTH = 1 << 27  # window tokens of a chunk, from which it is worth the messages: about .4 s


@dataclass(frozen=True)
class _Chunk:
    """The arrays of Occurrences, the plan, and the entries of the largest block."""

    arrays: tuple[Shared, ...]
    plan: Plan
    room: int


def count_on_cluster(
    found: Occurrences, blocks: Blocks, plan: Plan, workspace: Workspace, room: int,
    scheduler: Scheduler,
) -> Iterator[Rows]:  # fmt: skip
    """Yield the rows of the blocks, in order, and add them to the sums of the workspace.

    room: the most entries of a block.
    """
    tasks = tasks_of(blocks)
    shared = share_all(scheduler, *found.arrays)
    done = scheduler.map(_count, tasks, _Chunk(shared, plan, room))
    yield from received(tasks, done, workspace)
    scheduler.release(*shared)


def _count(blocks: Blocks, spec: _Chunk) -> Result:
    """Return the lengths, columns and counts of some rows."""
    plan = spec.plan
    found = Occurrences.of(*(shared.open() for shared in spec.arrays))
    workspace = Workspace(plan.words, plan.symmetric, spec.room, plan.dtype)
    return result_of([workspace.count(*b, found.kernel(b, plan)).rows for b in blocks])
