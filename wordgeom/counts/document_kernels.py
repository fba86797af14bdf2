"""The loops that count the words of documents, and add up rows that were counted."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.runtime.jit import kernel

# Where the one bit of a number is: bit · _SEQUENCE >> 58 differs for each (de Bruijn's sequence).
_SEQUENCE = 0x03F79D71B4CB0A89
_PLACES = np.zeros(64, np.uint8)
for _k in range(64):
    _PLACES[((_SEQUENCE << _k) & ((1 << 64) - 1)) >> 58] = _k


@kernel
def count_documents(
    ids: Int32, V: int, cells: Int32, marks: Array, groups: Array, lengths: Int64, indices: Int32,
    values: Array,
) -> int:  # fmt: skip
    """Count the words of what stands between ids V: each stretch gives a row, columns ascending.

    cells (V) int32, marks (a bit for each word) and groups (a bit for each of the marks) uint64,
    all 0, as they are left. Returns the number of stretches, one more than there are ids V.
    """
    rows = 0
    written = 0
    at = 0
    while True:
        before = written
        while at < len(ids) and ids[at] != V:
            word = int(ids[at])
            cells[word] += 1
            marks[word >> 6] |= np.uint64(1) << np.uint64(word & 63)
            groups[word >> 12] |= np.uint64(1) << np.uint64((word >> 6) & 63)
            at += 1
        for high in range(len(groups)):
            group = groups[high]
            while group != 0:
                middle = (high << 6) | _lowest(group)
                group &= group - np.uint64(1)
                mark = marks[middle]
                while mark != 0:
                    word = (middle << 6) | _lowest(mark)
                    mark &= mark - np.uint64(1)
                    indices[written] = word
                    values[written] = cells[word]
                    cells[word] = 0
                    written += 1
                marks[middle] = 0
            groups[high] = 0
        lengths[rows] = written - before
        rows += 1
        if at >= len(ids):
            return rows
        at += 1


@kernel
def _lowest(bits: int) -> int:
    """Return the place of the lowest bit that is set."""
    lowest = bits & (~bits + np.uint64(1))
    return int(_PLACES[(lowest * np.uint64(_SEQUENCE)) >> np.uint64(58)])


@kernel
def add_rows(indices: Int32, values: Array, sums: Int64, holders: Int64) -> None:
    """Add the entries of whole rows to the sums of columns, and to the number of rows with each."""
    for k in range(len(indices)):
        sums[indices[k]] += values[k]
        holders[indices[k]] += 1
