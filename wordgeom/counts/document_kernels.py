"""Loops that count the words of documents and sum the counted rows."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.runtime.jit import kernel

# Position of a single set bit: bit · _SEQUENCE >> 58 is unique to it (a de Bruijn sequence).
_SEQUENCE = 0x03F79D71B4CB0A89
_PLACES = np.zeros(64, np.uint8)
for _k in range(64):
    _PLACES[((_SEQUENCE << _k) & ((1 << 64) - 1)) >> 58] = _k


@kernel
def count_documents(
    ids: Int32, V: int, cells: Int32, marks: Array, groups: Array, lengths: Int64, indices: Int32,
    values: Array,
) -> int:  # fmt: skip
    """Count the words between ids V; each run between them is a row, its columns ascending.

    cells (V) int32, marks (a bit for each word) and groups (a bit for each mark) uint64 are all 0
    before and after. Returns the number of rows, one more than the number of ids V.
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
    """Return the position of the lowest set bit."""
    lowest = bits & (~bits + np.uint64(1))
    return int(_PLACES[(lowest * np.uint64(_SEQUENCE)) >> np.uint64(58)])


@kernel
def add_rows(indices: Int32, values: Array, sums: Int64, frequencies: Int64) -> None:
    """Add complete rows to the column sums and to the document frequencies."""
    for k in range(len(indices)):
        sums[indices[k]] += values[k]
        frequencies[indices[k]] += 1
