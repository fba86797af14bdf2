"""Sums and differences of count matrices on a cluster, in blocks of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.counts.count_rows import Rows, Workspace
from wordgeom.counts.remote_rows import Blocks, received, result_of, tasks_of
from wordgeom.counts.summands import Negative, SharedSummands, combined
from wordgeom.runtime.scheduler import Result, Scheduler

WORTH = 1 << 26  # entries to add up, from which a sum is worth its messages


@dataclass(frozen=True)
class _Sum:
    """What the blocks of a sum share; room: the most entries of a block."""

    summands: SharedSummands
    words: int
    symmetric: bool
    dtype: str
    room: int
    subtract: bool


def merge_on_cluster(
    scheduler: Scheduler, summands: SharedSummands, blocks: Blocks, workspace: Workspace, room: int,
    subtract: Negative | None,
) -> Iterator[Rows]:  # fmt: skip
    """Yield the rows of the blocks, in order, and add them to the sums of the workspace."""
    tasks, at = tasks_of(blocks), workspace
    spec = _Sum(summands, at.words, at.symmetric, at.dtype.str, room, subtract is not None)

    def checked(results: Iterator[Result]) -> Iterator[Result]:
        for result in results:
            if subtract is not None and result["negative"][2]:
                raise subtract(*result["negative"].tolist())
            yield result

    yield from received(tasks, checked(scheduler.map(_merge, tasks, spec)), workspace)


def _merge(blocks: Blocks, spec: _Sum) -> Result:
    """Return the rows of some blocks, and the first negative count, zeros without one."""
    summands = spec.summands.open()
    workspace = Workspace(spec.words, spec.symmetric, spec.room, spec.dtype)
    made = [combined(summands, block, workspace, subtract=spec.subtract) for block in blocks]
    negative = next((found for _, found in made if found[2]), np.zeros(3, np.int64))
    return {**result_of([rows.rows for rows, _ in made]), "negative": negative}
