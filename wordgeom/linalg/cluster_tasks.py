"""What a cluster computes as one task: consecutive blocks of rows, and the arrays they read."""

from __future__ import annotations

import weakref
from itertools import pairwise

from wordgeom.core.types import Array
from wordgeom.runtime.scheduler import Scheduler, Shared, share_all

WORTH = 1 << 28  # multiplications of one column, from which a product is worth its messages
# Products with a matrix before it is shared. gbu needs no more; to share it takes as long as
# three products with 110 columns on one thread.
LOCAL_PRODUCTS = 2
# Tasks, at least and per thread of the cluster, so that all threads end at about the same time.
_TASKS, _PER_THREAD = 32, 4
Blocks = tuple[tuple[int, int], ...]  # consecutive blocks of rows [start:stop)


def share_with(owner: object, scheduler: Scheduler, *arrays: Array) -> tuple[Shared, ...]:
    """Share arrays as long as their owner lives."""
    shared = share_all(scheduler, *arrays)
    weakref.finalize(owner, scheduler.release, *shared)
    return shared


def grouped(blocks: list[tuple[int, int]], scheduler: Scheduler) -> list[Blocks]:
    """Group consecutive blocks into tasks of about the same number of blocks."""
    number = min(len(blocks), max(_TASKS, _PER_THREAD * scheduler.threads))
    bounds = [len(blocks) * k // number for k in range(number + 1)]
    return [tuple(blocks[a:b]) for a, b in pairwise(bounds)]


def rows_of(blocks: Blocks) -> slice:
    """Return the rows of consecutive blocks."""
    return slice(blocks[0][0], blocks[-1][1])
