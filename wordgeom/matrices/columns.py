"""Selected columns of a matrix that is stored by rows, in full or as its upper triangle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wordgeom.core.types import Csr, Int32, Int64
from wordgeom.matrices import column_kernels as kernels
from wordgeom.matrices.interfaces import RowSource
from wordgeom.runtime.pool import Pool

# Row blocks in memory, of usually 16 MB each: one thread consumes them, however many read.
_MAX_BLOCKS = 8


def select_columns(source: RowSource, chosen: Int64, pool: Pool) -> Csr:
    """Return G[:, chosen], (V × len(chosen)), for ascending `chosen`, in the dtype of the source.

    Of a symmetric matrix, the first m columns need only the first m stored rows. More than a few
    blocks are read twice, to count and to fill, so that nothing large is held but the result.
    """
    V, m = len(source.vocabulary), len(chosen)
    position = positions(chosen, V)
    leading = source.symmetric and m > 0 and int(chosen[-1]) == m - 1
    blocks = source.row_blocks(m if leading else None)
    indptr, dtype = np.zeros(V + 1, np.int64), np.dtype(np.float32)
    held = list(_rows(source, blocks, pool)) if len(blocks) <= _MAX_BLOCKS else None
    for first, rows in held or _rows(source, blocks, pool):
        kernels.count_selected(rows.indptr, rows.indices, first, position, source.symmetric, indptr)
        dtype = rows.data.dtype
    np.cumsum(indptr, out=indptr)
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], dtype)
    cursor = indptr[:-1].copy()
    for first, rows in held or _rows(source, blocks, pool):
        kernels.select(
            rows.indptr, rows.indices, rows.data, first, position, source.symmetric,
            cursor, indices, data,
        )  # fmt: skip
    return Csr(indptr, indices, data, m)


def positions(chosen: Int64, V: int) -> Int32:
    """Return the index (V) of each column among the chosen ones, or -1."""
    if len(chosen) and not (np.all(np.diff(chosen) > 0) and chosen[0] >= 0 and chosen[-1] < V):
        raise ValueError("chosen columns must ascend and be in range")
    position = np.full(V, -1, np.int32)
    position[chosen] = np.arange(len(chosen), dtype=np.int32)
    return position


def _rows(
    source: RowSource, blocks: list[tuple[int, int]], pool: Pool
) -> Iterator[tuple[int, Csr]]:
    """Yield the first row and the rows of each block."""

    def read(block: tuple[int, int]) -> tuple[int, Csr]:
        return block[0], source.rows(*block)

    return pool.map(read, blocks, ahead=min(_MAX_BLOCKS, 2 * pool.threads))
