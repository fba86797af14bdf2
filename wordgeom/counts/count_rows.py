"""Blocks of counted rows on their way from a kernel to a file, and the scratch they need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Csr, Int32, Int64
from wordgeom.counts.kernels import GROUP, sum_rows
from wordgeom.runtime.pool import Reusable

ENTRIES = 1 << 20  # room for entries in a block, unless one row needs more


@dataclass(frozen=True)
class Rows:
    """Rows [start, start + len(lengths)): their lengths, columns (ascending) and counts.

    The arrays are lent: they are good until the next block is asked for.
    """

    start: int
    lengths: Int64
    indices: Int32
    values: Array


class Bench:
    """One thread's arrays for V words: dense cells, the marks of touched groups, sums."""

    def __init__(self, words: int, symmetric: bool) -> None:
        eights = -(-(words + 1) // (8 * GROUP))
        self.cells = np.zeros(8 * GROUP * eights, np.int64)
        self.touched = np.zeros(8 * eights, np.uint8)
        self.groups = self.touched.view(np.int64)
        self.found = np.empty(2 * (8 * eights + 1), np.int32)
        self.lengths = np.zeros(words, np.int64)
        self.row_sums = np.zeros(words, np.int64)
        self.column_sums = self.row_sums if symmetric else np.zeros(words, np.int64)


class Workshop:
    """Benches for threads and buffers for finished rows; `room` entries in a buffer."""

    def __init__(self, words: int, symmetric: bool, room: int, dtype: DTypeLike) -> None:
        self.words, self.symmetric, self.dtype = words, symmetric, np.dtype(dtype)
        self._benches: list[Bench] = []
        self.benches = Reusable(self._new_bench)
        # A kernel writes one group past the last entry before it knows that it is empty.
        size = room + GROUP
        self.buffers = Reusable(lambda: (np.empty(size, np.int32), np.empty(size, self.dtype)))

    def _new_bench(self) -> Bench:
        self._benches.append(Bench(self.words, self.symmetric))
        return self._benches[-1]

    def add(self, first: int, rows: Csr) -> None:
        """Add rows from `first` on that were counted elsewhere to the sums."""
        bench = self.benches.take()
        sum_rows(
            rows.indptr, rows.indices, rows.data, first, self.symmetric,
            bench.row_sums, bench.column_sums,
        )  # fmt: skip
        self.benches.give_back(bench)

    def sums(self) -> tuple[Int64, Int64]:
        """(V), (V) sums of the whole matrix's rows and columns over all that was counted here."""
        rows = [b.row_sums for b in self._benches]
        columns = [b.column_sums for b in self._benches]
        nothing = np.zeros(self.words, np.int64)
        return sum(rows, nothing), sum(columns, nothing)


@dataclass(frozen=True)
class Finished:
    """A block of rows together with the buffers that must be given back."""

    rows: Rows
    buffers: tuple[Int32, Array]


def lend(finished: Iterator[Finished], workshop: Workshop) -> Iterator[Rows]:
    """Yield each block of rows and take its buffers back when the next one is asked for."""
    for block in finished:
        yield block.rows
        workshop.buffers.give_back(block.buffers)


def cut_rows(entries: Int64, work: Int64, most_work: int, first: int = 0) -> list[tuple[int, int]]:
    """Cut rows into blocks of at least one row, at most ENTRIES entries and `most_work` work.

    entries, work (rows): an upper bound of each row's entries and the effort that it takes; first:
    the row to begin with.
    """
    blocks = []
    start = first
    cost = np.maximum(entries / ENTRIES, work / most_work)
    total = np.concatenate(([0.0], np.cumsum(cost)))
    while start < len(entries):
        stop = int(np.searchsorted(total, total[start] + 1.0, side="right")) - 1
        stop = min(max(stop, start + 1), len(entries))
        blocks.append((start, stop))
        start = stop
    return blocks


def value_type(largest: int) -> np.dtype[np.uint32] | np.dtype[np.int64]:
    """Return the type that holds counts up to a bound; the bound decides, not what was counted.

    Raises InputError for counts that an int64 might not hold.
    """
    if largest >= 1 << 63:
        do = "pass --window 20 or less, or --window-weight flat or dynamic"
        raise InputError("counts could be too large to be exact", found=f"up to {largest}", do=do)
    return np.dtype(np.uint32) if largest < 1 << 32 else np.dtype(np.int64)
