"""Blocks of counted rows, and the workspace in which threads count them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.errors import InputError
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Csr, Int32, Int64
from wordgeom.counts.kernels import GROUP, sum_rows
from wordgeom.runtime.pool import LOOKAHEAD, Reusable

ENTRIES = 1 << 20  # entries in a block, unless one row has more or memory is short
_FEWEST = 1 << 14
_MANY = 16  # matrices of which a block has a share that is worth a read


@dataclass(frozen=True)
class Rows:
    """Rows [start, start + len(lengths)): their lengths, columns (ascending) and counts.

    The arrays are valid until the next block is requested.
    """

    start: int
    lengths: Int64
    indices: Int32
    values: Array


class Accumulator:
    """A thread's sparse accumulator: a dense row of V + 1 cells, marks of used groups, sums."""

    def __init__(self, words: int, symmetric: bool) -> None:
        eights = -(-(words + 1) // (8 * GROUP))
        self.cells = np.zeros(8 * GROUP * eights, np.int64)
        self.touched = np.zeros(8 * eights, np.uint8)
        self.groups = self.touched.view(np.int64)
        self.found = np.empty(2 * (8 * eights + 1), np.int32)
        self.lengths = np.zeros(words, np.int64)
        self.row_sums = np.zeros(words, np.int64)
        self.column_sums = self.row_sums if symmetric else np.zeros(words, np.int64)


@dataclass(frozen=True)
class BufferedRows:
    """A block of rows with the buffers that hold it."""

    rows: Rows
    buffers: tuple[Int32, Array]


class Workspace:
    """Accumulators for threads, and buffers of `room` entries for finished rows."""

    def __init__(self, words: int, symmetric: bool, room: int, dtype: DTypeLike) -> None:
        self.words, self.symmetric, self.dtype = words, symmetric, np.dtype(dtype)
        self._all: list[Accumulator] = []
        self.accumulators = Reusable(self._new)
        # A kernel writes one group beyond the last entry before it finds the group empty.
        size = room + GROUP
        self.buffers = Reusable(lambda: (np.empty(size, np.int32), np.empty(size, self.dtype)))

    def _new(self) -> Accumulator:
        self._all.append(Accumulator(self.words, self.symmetric))
        return self._all[-1]

    def add(self, first: int, rows: Csr) -> None:
        """Add rows that were counted elsewhere, from row `first`, to the sums."""
        accumulator = self.accumulators.take()
        sum_rows(
            rows.indptr, rows.indices, rows.data, first, self.symmetric,
            accumulator.row_sums, accumulator.column_sums,
        )  # fmt: skip
        self.accumulators.give_back(accumulator)

    def count(self, first: int, last: int, kernel: Callable[..., int]) -> BufferedRows:
        """Count rows first ≤ row < last; the kernel gets the accumulator's and buffers' arrays."""
        accumulator, buffers = self.accumulators.take(), self.buffers.take()
        n = kernel(
            accumulator.cells, accumulator.touched, accumulator.groups, accumulator.found,
            *buffers, accumulator.lengths, accumulator.row_sums, accumulator.column_sums,
        )  # fmt: skip
        lengths = accumulator.lengths[first:last].copy()
        self.accumulators.give_back(accumulator)
        indices, values = buffers
        return BufferedRows(Rows(first, lengths, indices[:n], values[:n]), buffers)

    def sums(self) -> tuple[Int64, Int64]:
        """(V), (V) row and column sums of the full matrix over all rows counted here."""
        zeros = np.zeros(self.words, np.int64)
        rows = sum((a.row_sums for a in self._all), zeros)
        return rows, sum((a.column_sums for a in self._all), zeros)


def lend(finished: Iterator[BufferedRows], workspace: Workspace) -> Iterator[Rows]:
    """Yield each block of rows; reuse its buffers when the next one is requested."""
    for block in finished:
        yield block.rows
        workspace.buffers.give_back(block.buffers)


def block_entries(room: int, threads: int, dtype: np.dtype[Any], matrices: int = 1) -> int:
    """Return the entries of a block of which all buffers take at most `room` bytes.

    A block and those ahead of it have buffers, and a thread that merges has each entry twice more.
    matrices: that are merged. Blocks of many matrices are larger, since a part of a stored one is
    read and verified by the MiB.
    """
    held = threads * LOOKAHEAD + 2 + 2 * threads
    most = ENTRIES * max(1, matrices // _MANY)
    return min(max(room // (held * (4 + dtype.itemsize)), _FEWEST), most)


def cut_rows(
    entries: Int64, work: Int64, most_entries: int, most_work: int, first: int = 0
) -> list[tuple[int, int]]:
    """Cut rows into blocks of at least one row, at most that many entries and that much work.

    entries, work (rows): upper bounds on the entries and on the work of each row; first: the first
    row to include.
    """
    cost = np.maximum(entries / most_entries, work / most_work)
    return row_blocks(np.concatenate(([0.0], np.cumsum(cost))), entries=1, start=first)


def value_type(largest: int) -> np.dtype[np.uint32] | np.dtype[np.int64]:
    """Return the dtype for counts up to the bound `largest`, whatever counts actually occur.

    Raises InputError for a bound beyond int64.
    """
    if largest >= 1 << 63:
        do = "pass --window 20 or less, or --window-weight flat or dynamic"
        raise InputError(f"counts of up to {largest} may be too large to be exact", do=do)
    return np.dtype(np.uint32) if largest < 1 << 32 else np.dtype(np.int64)
