"""Columns of a matrix that is stored by rows, or by the rows of its upper triangle."""

from __future__ import annotations

import numpy as np

from wordgeom import selection_kernels as kernels
from wordgeom.matrix import RowSource
from wordgeom.pool import Pool
from wordgeom.types import Array, Csr, Int32, Int64

_Picked = tuple[Int32, Int32, Array]


def select_columns(source: RowSource, chosen: Int64, pool: Pool) -> Csr:
    """Return G[:, chosen], (V × len(chosen)), for ascending `chosen`; the source's own type.

    Columns ascend in every row. Where the first columns of a symmetric matrix are chosen, only
    as many of its stored rows are read. Takes 20 bytes for each entry of the result.
    """
    V, m = len(source.vocabulary), len(chosen)
    if m and not (np.all(chosen[1:] > chosen[:-1]) and chosen[0] >= 0 and chosen[-1] < V):
        raise ValueError("chosen columns must ascend and be in range")
    position = np.full(V, -1, np.int32)
    position[chosen] = np.arange(m, dtype=np.int32)
    leading = source.symmetric and m > 0 and int(chosen[-1]) == m - 1

    def run(block: tuple[int, int]) -> _Picked:
        return _pick(source.rows(*block), block[0], position, source.symmetric)

    return _by_row(list(pool.map(run, source.row_blocks(m if leading else None))), V, m)


def _pick(rows: Csr, first: int, position: Int32, symmetric: bool) -> _Picked:
    n = kernels.count_picked(rows.indptr, rows.indices, first, position, symmetric)
    out = np.empty(n, np.int32), np.empty(n, np.int32), np.empty(n, rows.data.dtype)
    kernels.pick(rows.indptr, rows.indices, rows.data, first, position, symmetric, *out)
    return out


def _by_row(picked: list[_Picked], V: int, columns: int) -> Csr:
    """Sort entries by row; those of a row stay in order.

    They ascend: row x of a triangle is met as the mirror image of rows before x, then as itself.
    """
    indptr = np.zeros(V + 1, np.int64)
    for rows, _, _ in picked:
        kernels.count_rows(rows, indptr[1:])
    np.cumsum(indptr, out=indptr)
    dtype = picked[0][2].dtype if picked else np.dtype(np.float32)
    indices, data = np.empty(indptr[-1], np.int32), np.empty(indptr[-1], dtype)
    cursor = indptr[:-1].copy()
    for rows, places, values in picked:
        kernels.place(rows, places, values, cursor, indices, data)
    return Csr(indptr, indices, data, columns)
