"""Co-occurrence counts of a stream of ids, one chunk of it after the other.

A chunk is inverted (word → places); each row of the matrix is then added up from the windows at
its word's places. One chunk's rows are final; several chunks' rows go to scratch files and are
merged. Counts are whole numbers, so that no chunking changes them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.types import Int32, Int64
from wordgeom.counts import kernels, window_kernels
from wordgeom.counts.count_rows import Finished, Rows, Workshop, cut_rows, lend
from wordgeom.counts.merge import merge
from wordgeom.counts.partial_counts import Part, Parts
from wordgeom.counts.sliding_windows import Sliding
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress
from wordgeom.storage.id_stream import Ids

_BLOCK_LOOKS = 1 << 24  # tokens looked at for one block of rows: about 50 ms
_SILENT = Progress()
_CHUNK_SHARE = 0.375  # of the memory
_SMALLEST_CHUNK, _LARGEST_CHUNK = 1 << 20, 1 << 30
_PAGES = 1 << 22  # numbers of an array whose memory is asked for at once
_AT_ONCE = 1 << 24  # ids that a kernel looks at before Ctrl-C is heeded


@dataclass(frozen=True)
class Plan:
    """What to count: V words, weights (2 window + 1), symmetric: store the upper triangle.

    sliding: windows of window + 1 tokens, of which only the words tell; in the stream's ids, V is
    then a token without a row, and V + 1 no token.
    """

    words: int
    weights: Int32 | Int64
    symmetric: bool
    dtype: np.dtype[np.uint32] | np.dtype[np.int64]
    sliding: bool = False

    @property
    def window(self) -> int:
        """How far a window reaches."""
        return len(self.weights) // 2

    @property
    def halo(self) -> int:
        """How far around a place its count depends on."""
        return 2 * self.window if self.sliding else self.window

    @property
    def nothing(self) -> int:
        """The id of what is outside all documents."""
        return self.words + 1 if self.sliding else self.words


def chunk_tokens(memory: int, bytes_each: int) -> int:
    """Return how many tokens a chunk may have under `memory` bytes."""
    room = int(memory * _CHUNK_SHARE)
    return min(max(room // bytes_each, _SMALLEST_CHUNK), _LARGEST_CHUNK)


def token_bytes(stream: Ids, *, sliding: bool) -> int:
    """Return the bytes that a chunk's token takes: its place, its id unless it is in place, …."""
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
) -> tuple[Iterator[Rows], Workshop]:
    """Count the windows at stream[begin:end]; what lies around is looked at, not counted.

    Returns blocks of rows in order, from row `first` on, and the workshop that knows their sums
    when the last was taken. chunk: tokens counted at once; parts: where several chunks' counts go.
    """
    bounds = list(range(begin, end, chunk)) or [begin]
    if len(bounds) == 1:
        return _count_chunk(stream, begin, end, plan, pool, first)
    partials = []
    for number, start in enumerate(bounds, 1):
        span = (start, min(start + chunk, end))
        part = parts.find(span, plan.words)
        if part is None:
            rows, _ = _count_chunk(stream, *span, plan, pool)
            label = f"counting part {number} of {len(bounds)}"
            rows = progress.follow(rows, label, plan.words, "rows", lambda r: len(r.lengths))
            part = parts.spill(span, rows, plan.words, plan.dtype)
        partials.append(part)
    merged, workshop = merge(partials, plan.words, plan.symmetric, plan.dtype, pool, first)
    return _then_close(merged, partials), workshop


def _then_close(rows: Iterator[Rows], partials: list[Part]) -> Iterator[Rows]:
    try:
        yield from rows
    finally:
        for partial in partials:
            partial.close()


def _count_chunk(
    stream: Ids, begin: int, end: int, plan: Plan, pool: Pool, start: int = 0
) -> tuple[Iterator[Rows], Workshop]:
    ids, offset = stream.around(begin, end, plan.halo, plan.nothing)
    sliding = None
    if plan.sliding:
        sliding = Sliding.find(ids, offset, offset + end - begin, plan.words, plan.window + 1)
        ids = sliding.ids
    places, starts = _inverted(ids, offset, offset + end - begin, plan.words, pool)
    looks = np.diff(starts) * len(plan.weights)
    columns = np.arange(plan.words, 0, -1) if plan.symmetric else np.full(plan.words, plan.words)
    entries = np.minimum(columns, looks)
    blocks = cut_rows(entries, looks, _BLOCK_LOOKS, start)
    room = max((int(entries[a:b].sum()) for a, b in blocks), default=0)
    workshop = Workshop(plan.words, plan.symmetric, room, plan.dtype)

    def run(block: tuple[int, int]) -> Finished:
        first, last = block
        bench, buffers = workshop.benches.take(), workshop.buffers.take()
        indices, values = buffers
        scratch: tuple[Any, ...] = (
            plan.symmetric, bench.cells, bench.touched, bench.groups, bench.found,
            indices, values, bench.lengths, bench.row_sums, bench.column_sums,
        )  # fmt: skip
        if sliding is None:
            n = kernels.count_rows(ids, places, starts, first, last, plan.weights, *scratch)
        else:
            around = plan.window, sliding.far, sliding.near, sliding.again
            n = window_kernels.count_rows(ids, places, starts, first, last, *around, *scratch)
        lengths = bench.lengths[first:last].copy()
        workshop.benches.give_back(bench)
        return Finished(Rows(first, lengths, indices[:n], values[:n]), buffers)

    return lend(pool.map(run, blocks), workshop), workshop


def _inverted(ids: Int32, begin: int, end: int, words: int, pool: Pool) -> tuple[Int32, Int64]:
    """Return the places of ids[begin:end], word by word, and (V + 1) where each word's begin."""
    counts = np.zeros(words + 1, np.int64)
    stretches = _stretches(begin, end)
    for low, high in stretches:
        kernels.histogram(ids, low, high, counts)
    starts = np.concatenate(([0], np.cumsum(counts[:-1])))
    places = _touched(max(int(starts[-1]), 1), pool)
    places[0] = begin
    cursors = starts[:-1].copy()
    for low, high in stretches:
        kernels.invert(ids, low, high, cursors, places)
    return places, starts


def _touched(size: int, pool: Pool) -> Int32:
    """Return zeros whose memory is there: scattered writes would wait for each page."""
    made = np.empty(size, np.int32)

    def touch(start: int) -> None:
        made[start : start + _PAGES] = 0

    for _ in pool.map(touch, range(0, size, _PAGES)):
        pass
    return made


def _stretches(begin: int, end: int) -> list[tuple[int, int]]:
    """Cut [begin:end) into what a kernel is given at once."""
    return [(low, min(low + _AT_ONCE, end)) for low in range(begin, end, _AT_ONCE)]
