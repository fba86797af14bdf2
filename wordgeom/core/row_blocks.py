"""How rows are cut into blocks: by what they hold alone, never by threads or memory."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Int64

BLOCK_ENTRIES = 1 << 21  # entries read or made at once


def row_blocks(
    indptr: Int64, stop: int | None = None, entries: int | None = None
) -> list[tuple[int, int]]:
    """Cut the first `stop` rows into blocks of at least a row and about `entries` entries.

    indptr (rows + 1): where each row begins; entries: BLOCK_ENTRIES where not given.
    """
    stop = len(indptr) - 1 if stop is None else stop
    size = BLOCK_ENTRIES if entries is None else entries
    blocks = []
    start = 0
    while start < stop:
        end = int(np.searchsorted(indptr, int(indptr[start]) + size, side="right")) - 1
        end = min(max(end, start + 1), stop)
        blocks.append((start, end))
        start = end
    return blocks
