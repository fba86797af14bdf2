"""Pairs as a graph: for each item, the pairs in which it comes first, and all that it is in.

A distance is computed once for a pair, from its first item. A gradient is summed by item, first of
the pairs in which it comes first, then of those in which it comes second, so that no two threads
write to one row, and its bytes depend on no thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Int32, Int64
from wordgeom.methods.mde import kernels
from wordgeom.methods.mde.pairs import Pairs

_WORK = 1 << 21  # numbers that a block of rows reads


@dataclass(frozen=True)
class Rows:
    """Lists of items by row, in CSR: indptr (n + 1) int64, others (entries) int32."""

    indptr: Int64
    others: Int32

    def blocks(self, columns: int, most: int = _WORK) -> list[tuple[int, int]]:
        """Return [first, last) of blocks of rows of like work, for vectors of `columns` columns.

        most: entries of a block of several rows.
        """
        items = np.arange(len(self.indptr))
        return row_blocks(self.indptr + items, entries=max(1, min(_WORK // columns, most)))


def later(pairs: Pairs, items: int) -> Rows:
    """Return the pairs by first item; entries are in the order of the pairs."""
    indptr = np.searchsorted(pairs.left, np.arange(items + 1)).astype(np.int64)
    return Rows(indptr, pairs.right)


def earlier(groups: Sequence[Pairs], items: int) -> tuple[Rows, Int32]:
    """Return the pairs in which each item comes second, and the number (entries) of each.

    Numbers count over all groups; those of an item ascend.
    """
    left, right = _ends(groups)
    return _entries([(right, left)], items)


def around(groups: Sequence[Pairs], items: int) -> tuple[Rows, Int32]:
    """Return all pairs of each item, and the number (entries) of each, counted over all groups."""
    left, right = _ends(groups)
    return _entries([(right, left), (left, right)], items)


def _ends(groups: Sequence[Pairs]) -> tuple[Int32, Int32]:
    left, right = (np.concatenate([getattr(pairs, side) for pairs in groups])
                   for side in ("left", "right"))  # fmt: skip
    return left, right


def _entries(sides: Sequence[tuple[Int32, Int32]], items: int) -> tuple[Rows, Int32]:
    """Return the entries of all sides: the items whose entries pairs are, and the other ones."""
    indptr = np.zeros(items + 1, np.int64)
    for ends, _ in sides:
        indptr[1:] += np.bincount(ends, minlength=items)
    np.cumsum(indptr, out=indptr)
    others, numbers = np.empty((2, int(indptr[-1])), np.int32)
    places = indptr[:-1].copy()
    for ends, opposite in sides:
        kernels.set_entries(ends, opposite, places, others, numbers)
    return Rows(indptr, others), numbers
