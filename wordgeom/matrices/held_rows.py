"""Stored rows that are read and weighted once, for several passes over them."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordgeom.core.types import Csr
from wordgeom.matrices.interfaces import RowSource
from wordgeom.runtime.pool import Pool


class HeldRows:
    """The rows of a source in memory, as a RowSource; once released, read from the source."""

    def __init__(self, source: RowSource, pool: Pool) -> None:
        self.vocabulary, self.symmetric = source.vocabulary, source.symmetric
        self._source, self._blocks = source, source.row_blocks()
        self._starts = np.array([first for first, _ in self._blocks], np.int64)
        self._parts = list(pool.map(lambda block: source.rows(*block), self._blocks))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the entries."""
        return self._source.dtype

    def release_above(self, room: int) -> int:
        """Free the memory of the rows if it exceeds `room` bytes; return what they still take."""
        arrays = [(part.indptr, part.indices, part.data) for part in self._parts]
        held = sum(array.nbytes for part in arrays for array in part)
        if held > room:
            self._parts.clear()
        return held if self._parts else 0

    def row_blocks(self, stop: int | None = None) -> list[tuple[int, int]]:
        """Return [start, stop) of blocks of the first `stop` rows."""
        return self._source.row_blocks(stop)

    def rows(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop), which lie in one block."""
        if not self._parts:
            return self._source.rows(start, stop)
        number = int(np.searchsorted(self._starts, start, side="right")) - 1
        first, last = self._blocks[number]
        held = self._parts[number]
        return held if (first, last) == (start, stop) else held.block(start - first, stop - first)
