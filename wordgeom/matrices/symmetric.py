"""The full matrix in memory, from stored rows in full or of the upper triangle."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Csr, Int32, Int64, offsets
from wordgeom.matrices import symmetric_kernels as kernels
from wordgeom.matrices.interfaces import RowSource
from wordgeom.runtime.pool import Pool
from wordgeom.storage.memmap import Allocate

_ENTRIES = 1 << 22  # entries of the full matrix in a block of work
_RANGE = 1 << 26  # entries written during one pass over the stored rows


def full_matrix(source: RowSource, pool: Pool) -> Csr:
    """Return G (V × V), both triangles, in the dtype of the source."""
    V = len(source.vocabulary)
    blocks = source.row_blocks()
    parts = list(pool.map(lambda block: source.rows(*block), blocks))
    firsts = [first for first, _ in blocks]
    if not source.symmetric:
        return _joined(parts, V)
    lengths = np.zeros(V, np.int64)
    for first, part in zip(firsts, parts, strict=True):
        kernels.count_expanded(part.indptr, part.indices, first, lengths)
    indptr = offsets(lengths)
    indices = np.empty(indptr[-1], np.int32)
    data = np.empty(indptr[-1], parts[0].data.dtype if parts else np.float32)
    cursor = indptr[:-1].copy()

    def run(rows: tuple[int, int]) -> None:
        for first, part in zip(firsts, parts, strict=True):
            kernels.expand(
                part.indptr, part.indices, part.data, first, *rows, cursor, indices, data
            )

    for _ in pool.map(run, row_blocks(indptr, entries=_ENTRIES)):
        pass
    return Csr(indptr, indices, data, V)


def expanded(source: RowSource, pool: Pool, allocate: Allocate) -> Csr:
    """Return G as full_matrix does; the arrays of a symmetric one come from `allocate`.

    The stored rows are read in blocks, once for their lengths and once for each range of rows.
    """
    if not source.symmetric:
        return full_matrix(source, pool)
    indptr = full_offsets(source, pool)
    indices = allocate(int(indptr[-1]), np.int32)
    data = allocate(int(indptr[-1]), source.dtype)
    for low, high in row_blocks(indptr, entries=_RANGE):
        part = slice(indptr[low], indptr[high])
        expand_rows(source, pool, indptr, (low, high), indices[part], data[part])
    return Csr(indptr, indices, data, len(source.vocabulary))


def full_offsets(source: RowSource, pool: Pool) -> Int64:
    """Return where each row of G begins (V + 1)."""
    V = len(source.vocabulary)
    lengths = np.zeros(V, np.int64)
    for first, part in _stored(source, pool, V):
        if source.symmetric:
            kernels.count_expanded(part.indptr, part.indices, first, lengths)
        else:
            lengths[first : first + part.rows] = np.diff(part.indptr)
    return offsets(lengths)


def expand_rows(
    source: RowSource, pool: Pool, indptr: Int64, rows: tuple[int, int], indices: Int32, data: Array
) -> None:
    """Write the columns and values of the rows [low, high) of G.

    indptr (V + 1): from full_offsets; indices, data: the entries of these rows alone.
    """
    low, high = rows
    if not source.symmetric:
        part = source.rows(low, high)
        indices[:], data[:] = part.indices, part.data
        return
    cursor = indptr[:-1] - indptr[low]
    inner = row_blocks(indptr, high, entries=_ENTRIES, start=low)
    for first, part in _stored(source, pool, high):

        def run(block: tuple[int, int], first: int = first, part: Csr = part) -> None:
            kernels.expand(
                part.indptr, part.indices, part.data, first, *block, cursor, indices, data
            )

        for _ in pool.map(run, inner):
            pass


def _stored(source: RowSource, pool: Pool, stop: int) -> Iterator[tuple[int, Csr]]:
    """Yield blocks of the stored rows [0:stop), each with its first row."""
    blocks = source.row_blocks(stop)
    parts = pool.map(lambda block: source.rows(*block), blocks, ahead=pool.threads)
    yield from zip((first for first, _ in blocks), parts, strict=True)


def _joined(parts: list[Csr], columns: int) -> Csr:
    """Return the concatenation of row blocks."""
    if not parts:
        empty = np.empty(0, np.int32), np.empty(0, np.float32)
        return Csr(np.zeros(1, np.int64), *empty, columns)
    indptr = offsets(np.concatenate([np.diff(part.indptr) for part in parts]))
    indices = np.concatenate([part.indices for part in parts])
    return Csr(indptr, indices, np.concatenate([part.data for part in parts]), columns)
