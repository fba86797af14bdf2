"""Blocks of rows, cut by the number of entries alone, never by threads or memory."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64, Int64

BLOCK_ENTRIES = 1 << 21


def row_blocks(
    indptr: Int64 | Float64, stop: int | None = None, entries: int | None = None, start: int = 0
) -> list[tuple[int, int]]:
    """Return [first, last) of blocks of the rows [start:stop), each of about `entries` entries.

    indptr (rows + 1): the offset of each row; stop: all rows by default; entries: BLOCK_ENTRIES by
    default. A block has at least one row.
    """
    stop = len(indptr) - 1 if stop is None else stop
    size = BLOCK_ENTRIES if entries is None else entries
    blocks = []
    while start < stop:
        end = int(np.searchsorted(indptr, indptr[start] + size, side="right")) - 1
        end = min(max(end, start + 1), stop)
        blocks.append((start, end))
        start = end
    return blocks
