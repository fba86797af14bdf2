"""Similar pairs of a words × words matrix: each word with the largest entries of its row."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wordgeom.core.types import Csr, Int64
from wordgeom.methods.mde.graphs.keys import mutual
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.runtime.pool import Pool

_ENTRIES = 1 << 20  # of a block of rows


def largest_entries(matrix: Csr, k: int, pool: Pool) -> Pairs:
    """Return each row with the columns of its k largest entries above 0, off the diagonal.

    matrix (n × n), finite. The weight is 2 where both choose one another, else 1. Ties go to the
    lower column, which is the more frequent word.
    """

    def chosen(span: tuple[int, int]) -> tuple[Int64, Int64]:
        return _largest(matrix.block(*span), span[0], k)

    parts = list(pool.map(chosen, _blocks(matrix)))
    rows, columns = (np.concatenate([part[side] for part in parts]) for side in (0, 1))
    return mutual(rows, columns, matrix.rows)


def _blocks(matrix: Csr) -> Iterator[tuple[int, int]]:
    start = 0
    while start < matrix.rows:
        most = int(matrix.indptr[start]) + _ENTRIES
        stop = int(np.searchsorted(matrix.indptr, most, "right")) - 1
        stop = min(max(stop, start + 1), matrix.rows)
        yield start, stop
        start = stop


def _largest(block: Csr, first: int, k: int) -> tuple[Int64, Int64]:
    """Return the rows and the columns of the chosen entries of a block of rows from `first`."""
    rows = block.entry_rows
    used = np.flatnonzero((block.data > 0) & (block.indices != rows + first))
    rows, columns = rows[used], block.indices[used].astype(np.int64)
    order = np.lexsort((columns, -block.data[used].astype(np.float64), rows))
    rows, columns = rows[order], columns[order]
    starts = np.searchsorted(rows, np.arange(block.rows))
    nearest = np.arange(len(rows)) - starts[rows] < k
    return rows[nearest] + first, columns[nearest]
