"""How the problems of rows are cut into blocks, and how much of a row is gathered."""

from __future__ import annotations

import numpy as np

from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Int64

GATHERED = 1 << 19  # numbers of a row's system that are gathered: 2 MB in float32
SOLVED_ENTRIES = 1 << 18  # entries of a block of rows to solve: about 0.1 s at K = 300
_ROW = 256  # cost of a row in entries


def solver_blocks(indptr: Int64) -> list[tuple[int, int]]:
    """Return the blocks [start, stop) of rows that are solved as one, by their entries."""
    return row_blocks(indptr + _ROW * np.arange(len(indptr)), entries=SOLVED_ENTRIES)


def gathered_rows(other: Array) -> int:
    """Return how many rows of `other` (m × K) a row's system may gather."""
    return GATHERED // int(other.shape[1])
