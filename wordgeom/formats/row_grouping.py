"""Sort unordered entries into rows in bounded memory: group, spill to disk, merge.

Values are integers: counts in units, or the bits of floats, which are only ever moved.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from wordgeom.core.types import Array, Int64
from wordgeom.counts.count_rows import Rows
from wordgeom.counts.merge import merge
from wordgeom.counts.partial_counts import Partial
from wordgeom.formats import grouping_kernels as kernels
from wordgeom.runtime.context import Context
from wordgeom.storage.files import Closing

CHUNK = 1 << 21  # entries buffered in memory
_MAX_PARTS = 16  # partial matrices before they are merged: each takes two open files


class RowGrouper(Closing):
    """Collects entries of a sparse matrix (V × V) in any order; dtype: uint32 or int64."""

    def __init__(self, words: int, dtype: np.dtype[Any], context: Context) -> None:
        self.words, self.entries, self._dtype, self._context = words, 0, dtype, context
        self._rows, self._columns, self._to = (np.empty(CHUNK, np.int32) for _ in range(3))
        self._values, self._to_values = (np.empty(CHUNK, dtype) for _ in range(2))
        self._filled = 0
        self._parts: list[Partial] = []

    def add(self, rows: Int64, columns: Int64, values: Array) -> None:
        """Add entries. Raises WriteError if scratch space is full."""
        self.entries += len(rows)
        while len(rows):
            room = CHUNK - self._filled
            end = self._filled + len(rows[:room])
            for buffer, new in (
                (self._rows, rows), (self._columns, columns), (self._values, values),
            ):  # fmt: skip
                buffer[self._filled : end] = new[:room]
            self._filled = end
            rows, columns, values = rows[room:], columns[room:], values[room:]
            if end == CHUNK:
                self._spill()

    def parts(self) -> Sequence[Partial]:
        """Return all entries as partial matrices; nothing can be added afterwards."""
        if self._filled:
            self._spill()
        del self._rows, self._columns, self._to, self._values, self._to_values
        return self._parts

    def close(self) -> None:
        """Close the scratch files."""
        for part in self._parts:
            part.close()

    def _spill(self) -> None:
        lengths, cursors = np.empty(self.words, np.int64), np.empty(self.words, np.int64)
        n, self._filled = self._filled, 0
        kernels.group_rows(
            self._rows[:n], self._columns[:n], self._values[:n], lengths, cursors,
            self._to[:n], self._to_values[:n],
        )  # fmt: skip
        grouped = Rows(0, lengths, self._to[:n], self._to_values[:n])
        if len(self._parts) == _MAX_PARTS:
            self._join()
        self._parts.append(self._spilled(iter([grouped])))

    def _join(self) -> None:
        blocks, _ = merge(self._parts, self.words, False, self._dtype, self._context.pool)
        merged = self._spilled(blocks)
        self.close()
        self._parts[:] = [merged]

    def _spilled(self, blocks: Iterator[Rows]) -> Partial:
        return Partial.spill(blocks, self.words, self._dtype, self._context.scratch)
