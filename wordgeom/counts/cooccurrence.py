"""Count co-occurrences in a stream of ids, one chunk at a time.

A chunk is inverted (word → positions); each row of the matrix is then the sum over the windows at
the positions of its word. The rows of a single chunk are final; those of several chunks go to
partial matrices, which are merged. Counts are integers, so the result does not depend on the
chunks.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wordgeom.core.types import Int32, Int64
from wordgeom.counts import cluster_rows, kernels
from wordgeom.counts.count_rows import BufferedRows, Rows, Workspace, cut_rows, lend
from wordgeom.counts.merge import merge
from wordgeom.counts.occurrences import Occurrences
from wordgeom.counts.partial_counts import Part, Parts, Span
from wordgeom.counts.plan import Plan
from wordgeom.counts.sliding_windows import SlidingWindows
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress
from wordgeom.runtime.scheduler import Scheduler
from wordgeom.storage.id_stream import Ids

_BLOCK_WORK = 1 << 24  # window tokens per block of rows: about 50 ms
_SILENT = Progress()
_CHUNK_SHARE = 0.375  # of the room for data
_SMALLEST_CHUNK, _LARGEST_CHUNK = 1 << 20, 1 << 30
_PAGES = 1 << 22  # array elements whose memory is allocated at once
_AT_ONCE = 1 << 24  # ids per kernel call, between which Ctrl-C is handled


def chunk_tokens(room: int, bytes_each: int) -> int:
    """Return the tokens of a chunk where data may take `room` bytes."""
    share = int(room * _CHUNK_SHARE)
    return min(max(share // bytes_each, _SMALLEST_CHUNK), _LARGEST_CHUNK)


def token_bytes(stream: Ids, *, sliding: bool) -> int:
    """Return the bytes per token of a chunk: its position, its id unless in place, its windows."""
    return 16 if sliding else 4 if stream.in_place else 8


def count(
    stream: Ids,
    begin: int,
    end: int,
    plan: Plan,
    chunk: int,
    parts: Parts,
    pool: Pool,
    progress: Progress = _SILENT,
    first: int = 0,
    cluster: Scheduler | None = None,
) -> tuple[Iterator[Rows], Workspace]:
    """Count the windows centred in stream[begin:end]; ids around it serve only as context.

    Returns blocks of rows in order, from row `first`, and the workspace, which has the sums
    after the last block. chunk: tokens counted at once; parts: stores the counts of several chunks;
    cluster: counts the rows of large chunks.
    """
    bounds = list(range(begin, end, chunk)) or [begin]
    if len(bounds) == 1:
        return _count_chunk(stream, begin, end, plan, pool, first, cluster)
    partials = []
    for number, start in enumerate(bounds, 1):
        span = (start, min(start + chunk, end))
        part = parts.find(span, plan.words)
        if part is None:
            label = f"counting part {number} of {len(bounds)}"
            part = _count_part(stream, span, plan, parts, pool, progress, label, cluster)
        partials.append(part)
    merged, workspace = merge(
        partials, plan.words, plan.symmetric, plan.dtype, pool, first, plan.entries
    )
    return _then_close(merged, partials), workspace


def _count_part(
    stream: Ids, span: Span, plan: Plan, parts: Parts, pool: Pool, progress: Progress, label: str,
    cluster: Scheduler | None,
) -> Part:  # fmt: skip
    """Count a chunk and store it; its memory is free before the next one is counted."""
    rows, _ = _count_chunk(stream, *span, plan, pool, cluster=cluster)
    rows = progress.follow(rows, label, plan.words, "rows", lambda r: len(r.lengths))
    return parts.spill(span, rows, plan.words, plan.dtype)


def _then_close(rows: Iterator[Rows], partials: list[Part]) -> Iterator[Rows]:
    try:
        yield from rows
    finally:
        for partial in partials:
            partial.close()


def _count_chunk(
    stream: Ids,
    begin: int,
    end: int,
    plan: Plan,
    pool: Pool,
    start: int = 0,
    cluster: Scheduler | None = None,
) -> tuple[Iterator[Rows], Workspace]:
    found = _occurrences(stream, begin, end, plan, pool)
    work = np.diff(found.starts) * len(plan.weights)
    columns = np.arange(plan.words, 0, -1) if plan.symmetric else np.full(plan.words, plan.words)
    entries = np.minimum(columns, work)
    blocks = cut_rows(entries, work, plan.entries, _BLOCK_WORK, start)
    room = max((int(entries[a:b].sum()) for a, b in blocks), default=0)
    workspace = Workspace(plan.words, plan.symmetric, room, plan.dtype)
    if cluster is not None and work.sum() >= cluster_rows.WORTH:
        rows = cluster_rows.count_on_cluster(found, blocks, plan, workspace, room, cluster)
        return rows, workspace

    def run(block: tuple[int, int]) -> BufferedRows:
        return workspace.count(*block, found.kernel(block, plan))

    return lend(pool.map(run, blocks), workspace), workspace


def _occurrences(stream: Ids, begin: int, end: int, plan: Plan, pool: Pool) -> Occurrences:
    ids, offset = stream.around(begin, end, plan.halo, plan.outside)
    last, sliding = offset + end - begin, None
    if plan.sliding:
        sliding = SlidingWindows.find(ids, offset, last, plan.words, plan.window + 1)
        ids = sliding.ids
    return Occurrences(ids, *_inverted(ids, offset, last, plan.words, pool), sliding)


def _inverted(ids: Int32, begin: int, end: int, words: int, pool: Pool) -> tuple[Int32, Int64]:
    """Return the positions in ids[begin:end], grouped by word, and (V + 1) the group offsets."""
    counts = np.zeros(words + 1, np.int64)
    # Ranges for one kernel call each.
    steps = [(low, min(low + _AT_ONCE, end)) for low in range(begin, end, _AT_ONCE)]
    for low, high in steps:
        kernels.histogram(ids, low, high, counts)
    starts = np.concatenate(([0], np.cumsum(counts[:-1])))
    places = _allocated(max(int(starts[-1]), 1), pool)
    places[0] = begin
    cursors = starts[:-1].copy()
    for low, high in steps:
        kernels.invert(ids, low, high, cursors, places)
    return places, starts


def _allocated(size: int, pool: Pool) -> Int32:
    """Return zeros in allocated pages, since scattered writes would wait for each page fault."""
    array = np.empty(size, np.int32)

    def touch(start: int) -> None:
        array[start : start + _PAGES] = 0

    for _ in pool.map(touch, range(0, size, _PAGES)):
        pass
    return array
