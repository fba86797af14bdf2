"""What is added up: matrices over the same words, and the sum of some of their rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Protocol

import numpy as np

from wordgeom.core.types import Array, Csr, Int32, Int64
from wordgeom.counts import kernels
from wordgeom.counts.count_rows import BufferedRows, Workspace

# Returns the error for row, column and value of a negative count.
Negative = Callable[[int, int, int], Exception]


class Summand(Protocol):
    """A matrix whose rows can be read in blocks."""

    @property
    def indptr(self) -> Int64:
        """(V + 1) offset of each row."""

    def rows(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop)."""


class SharedSummands(Protocol):
    """Summands as the spec of a map holds them."""

    def open(self) -> Sequence[Summand]:
        """Return the summands, opened by this process."""


def combined(
    summands: Sequence[Summand], block: tuple[int, int], workspace: Workspace, *, subtract: bool
) -> tuple[BufferedRows, Int64]:
    """Return rows of the sum or difference, and row, column and value of a negative count, or 0."""
    given = *_side_by_side(summands, *block), block[0], workspace.symmetric
    negative = np.zeros(3, np.int64)
    kernel = partial(kernels.merge_rows, *given)
    if subtract:
        kernel = partial(kernels.subtract_rows, *given, negative)
    return workspace.count(*block, kernel), negative


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
