"""Sum or subtract count matrices over the same words, one block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from wordgeom.core.types import Array, Csr, Int32, Int64
from wordgeom.counts import kernels
from wordgeom.counts.count_rows import ENTRIES, BufferedRows, Rows, Workspace, cut_rows, lend
from wordgeom.runtime.pool import Pool


class Summand(Protocol):
    """A matrix whose rows can be read in blocks."""

    @property
    def indptr(self) -> Int64:
        """(V + 1) offset of each row."""

    def rows(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop)."""


def merge(
    summands: Sequence[Summand],
    words: int,
    symmetric: bool,
    dtype: np.dtype[np.uint32] | np.dtype[np.int64],
    pool: Pool,
    first: int = 0,
    entries: int = ENTRIES,
    *,
    subtract: Callable[[int, int, int], Exception] | None = None,
) -> tuple[Iterator[Rows], Workspace]:
    """Return the rows of the sum in blocks, and the workspace with its row and column sums.

    The workspace is complete after the last block. symmetric: the summands are upper triangles;
    first: the first row to return; entries: of a block; subtract: subtract the others from the
    first, and raise what this returns for row, column and value of the first negative count.
    """
    lengths = sum((np.diff(s.indptr) for s in summands), np.zeros(words, np.int64))
    blocks = cut_rows(lengths, lengths, entries, entries, first)
    room = max((int(lengths[a:b].sum()) for a, b in blocks), default=0)
    workspace = Workspace(words, symmetric, room, dtype)

    def run(block: tuple[int, int]) -> BufferedRows:
        start, last = block
        given = *_side_by_side(summands, start, last), start, symmetric
        if subtract is None:
            return workspace.count(start, last, partial(kernels.merge_rows, *given))
        negative = np.zeros(3, np.int64)
        made = workspace.count(start, last, partial(kernels.subtract_rows, *given, negative))
        if negative[2]:
            raise subtract(*negative.tolist())
        return made

    return lend(pool.map(run, blocks), workspace), workspace


def _side_by_side(summands: Sequence[Summand], start: int, last: int) -> tuple[Int64, Int32, Array]:
    """Return the rows [start:last) of all summands: (n × rows + 1) offsets, columns, values.

    Each one is copied before the next is read: a store reads whole MiB, which its rows refer to.
    """
    offsets = np.empty((len(summands), last - start + 1), np.int64)
    columns, values, before = [], [], 0
    for number, summand in enumerate(summands):
        part = summand.rows(start, last)
        offsets[number] = part.indptr + before
        before += len(part.indices)
        columns.append(part.indices.copy())
        values.append(part.data.copy())
    return offsets, np.concatenate(columns), np.concatenate(values)
