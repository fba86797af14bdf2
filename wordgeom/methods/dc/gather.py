"""The entries of each block, gathered from one pass over the stored rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Csr, Float64, Int32, Int64, offsets
from wordgeom.matrices.interfaces import Matrix
from wordgeom.methods.dc.gather_kernels import gather, gather_first
from wordgeom.methods.dc.plan import Plan
from wordgeom.runtime.pool import Pool

ENTRY = 12  # bytes of an entry while it is gathered, for float32 values
CONVERTED = 16  # and of its copy by rows
AHEAD = 8  # blocks of stored rows that are read at a time, at most


@dataclass(frozen=True)
class Entries:
    """The entries of a symmetric block, rows ≥ columns, in the order in which they are stored."""

    rows: Int32
    columns: Int32
    values: Array

    def dense(self, size: int) -> Float64:
        """Return the block (size × size), both triangles, float64."""
        full = np.zeros((size, size))
        full[self.rows, self.columns] = self.values
        full[self.columns, self.rows] = self.values
        return full

    def below(self, overlap: int, size: int) -> Csr:
        """Return the rows of the block's own words against its overlap (size × overlap)."""
        return _csr(self.rows - np.int32(overlap), self.columns, self.values, size, overlap)


_NOTHING = Entries(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))


class Source:
    """A matrix, as the blocks of a plan; inner: with the entries between a block's own words."""

    def __init__(self, matrix: Matrix, plan: Plan, pool: Pool, *, inner: bool) -> None:
        self._matrix, self._plan, self._pool, self._inner = matrix, plan, pool, inner
        V = len(plan.order)
        self._place = np.empty(V, np.int64)
        self._place[plan.order] = np.arange(V)
        self._owner = np.repeat(np.arange(plan.blocks), np.diff(plan.starts))

    def counts(self) -> Int64:
        """Return the number of entries of each block (P); of the first, those of both triangles."""
        counts = np.zeros(self._plan.blocks, np.int64)
        self._gather(1, self._plan.blocks, counts, _NOTHING, write=False)
        counts[0] = self._lengths().sum()
        return counts

    def first_block(self) -> Csr:
        """Return the first block (n₁ × n₁), both triangles, in two passes over its rows."""
        indptr = offsets(self._lengths())
        made = Csr(
            indptr, np.empty(indptr[-1], np.int32), np.empty(indptr[-1], self._matrix.dtype),
            len(indptr) - 1,
        )  # fmt: skip
        cursor = indptr[:-1].copy()
        for first, part in self._rows_of_first():
            gather_first(
                part.indptr, part.indices, part.data, first, self._place, True,
                cursor, made.indices, made.data,
            )  # fmt: skip
        return _ascending(made)

    def entries(self, low: int, high: int, counts: Int64) -> Iterator[Entries]:
        """Yield the entries of blocks [low, high), from one pass over the stored rows."""
        begins = offsets(counts[low:high])
        total = int(begins[-1])
        every = Entries(
            np.empty(total, np.int32), np.empty(total, np.int32),
            np.empty(total, self._matrix.dtype),
        )  # fmt: skip
        cursor = np.zeros(self._plan.blocks, np.int64)
        cursor[low:high] = begins[:-1]
        self._gather(low, high, cursor, every, write=True)
        for start, stop in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
            part = slice(start, stop)
            yield Entries(every.rows[part], every.columns[part], every.values[part])

    def _gather(self, low: int, high: int, cursor: Int64, into: Entries, *, write: bool) -> None:
        plan = self._plan
        for first, part in self._rows():
            gather(
                part.indptr, part.indices, part.data, first,
                self._place, self._owner, plan.starts, plan.begins, plan.children, plan.overlap,
                low, high, self._inner, write, cursor, into.rows, into.columns, into.values,
            )  # fmt: skip

    def _lengths(self) -> Int64:
        """Return the entries of each row of the first block (n₁)."""
        lengths = np.zeros(self._plan.starts[1], np.int64)
        for first, part in self._rows_of_first():
            gather_first(
                part.indptr, part.indices, part.data, first, self._place, False,
                lengths, _NOTHING.columns, _NOTHING.values,
            )  # fmt: skip
        return lengths

    def _rows_of_first(self) -> Iterator[tuple[int, Csr]]:
        # An entry of the first block is stored in the row of one of its words.
        return self._rows(int(self._plan.order[: self._plan.starts[1]].max()) + 1)

    def _rows(self, stop: int | None = None) -> Iterator[tuple[int, Csr]]:
        """Yield blocks of the stored rows [0:stop), each with its first row."""
        blocks, ahead = self._matrix.row_blocks(stop), min(AHEAD, self._pool.threads)
        parts = self._pool.map(lambda block: self._matrix.rows(*block), blocks, ahead)
        yield from zip((first for first, _ in blocks), parts, strict=True)


def _ascending(block: Csr) -> Csr:
    """Return a block with ascending columns in each row, as they are if words are in its order."""
    import scipy.sparse

    # With offsets of another dtype, SciPy would copy the columns.
    small = block.nnz <= np.iinfo(np.int32).max
    indptr = block.indptr.astype(np.int32 if small else np.int64)
    shape = (block.rows, block.columns)
    made = scipy.sparse.csr_array((block.data, block.indices, indptr), shape=shape)
    made.sort_indices()
    indices = made.indices.astype(np.int32, copy=False)
    return Csr(block.indptr, indices, made.data, block.columns)


def _csr(rows: Int32, columns: Int32, values: Array, height: int, width: int) -> Csr:
    import scipy.sparse

    made = scipy.sparse.coo_array((values, (rows, columns)), shape=(height, width)).tocsr()
    made.sort_indices()
    indices = made.indices.astype(np.int32, copy=False)
    return Csr(made.indptr.astype(np.int64), indices, made.data, width)
