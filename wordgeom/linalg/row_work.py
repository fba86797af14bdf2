"""How the problems of rows are cut into blocks."""

from __future__ import annotations

import numpy as np

from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Int64

SOLVED_ENTRIES = 1 << 18  # entries of a block of rows to solve: about 0.1 s at K = 300
_ROW = 256  # cost of a row in entries


def solver_blocks(indptr: Int64) -> list[tuple[int, int]]:
    """Return the blocks [start, stop) of rows that are solved as one, by their entries."""
    return row_blocks(indptr + _ROW * np.arange(len(indptr)), entries=SOLVED_ENTRIES)
