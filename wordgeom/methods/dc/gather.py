"""The entries of each block, gathered from one pass over the stored rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Csr, Float64, Int32, Int64, offsets
from wordgeom.matrices.interfaces import RowSource
from wordgeom.matrices.submatrix import submatrix
from wordgeom.methods.dc.gather_kernels import count_first, gather
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

    def part(self, start: int, stop: int) -> Entries:
        """Return the entries [start:stop)."""
        part = slice(start, stop)
        return Entries(self.rows[part], self.columns[part], self.values[part])

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

    def __init__(self, matrix: RowSource, plan: Plan, pool: Pool, *, inner: bool) -> None:
        self._matrix, self._plan, self._pool, self._inner = matrix, plan, pool, inner
        V = len(plan.order)
        self._place = np.empty(V, np.int64)
        self._place[plan.order] = np.arange(V)
        self._owner = np.repeat(np.arange(plan.blocks), np.diff(plan.starts))

    def counts(self) -> Int64:
        """Return the number of entries of each block (P); of the first, those of both triangles."""

        def count(block: tuple[int, int]) -> Int64:
            first, part = block[0], self._matrix.rows(*block)
            counts = np.zeros(P, np.int64)
            self._gather(first, part, 1, P, counts, _NOTHING, write=False)
            size = int(self._plan.starts[1])
            counts[0] = count_first(part.indptr, part.indices, first, self._place, size)
            return counts

        P = self._plan.blocks
        counts = self._pool.map(count, self._matrix.row_blocks())
        return sum(counts, np.zeros(P, np.int64))

    def first_block(self) -> tuple[Csr, Int64]:
        """Return the first block (n₁ × n₁), both triangles, and the position of each of its rows.

        Its rows are in stored order, in which frequent words are together: products are faster.
        """
        words = np.sort(self._plan.order[: self._plan.starts[1]])
        return submatrix(self._matrix, words, self._pool), self._place[words]

    def leading(self, n: int) -> Float64:
        """Return the entries between the words at the first n positions, dense (n × n)."""
        words = np.sort(self._plan.order[:n])
        block, at = submatrix(self._matrix, words, self._pool), self._place[words]
        made = np.zeros((n, n))
        made[at[block.entry_rows], at[block.indices]] = block.data
        return made

    def entries(self, low: int, high: int, counts: Int64) -> tuple[Entries, Int64]:
        """Return the entries of blocks [low, high), from one pass over the stored rows.

        They follow each other, and begin at the offsets (blocks + 1).
        """
        begins = offsets(counts[low:high])
        total = int(begins[-1])
        every = Entries(
            np.empty(total, np.int32), np.empty(total, np.int32),
            np.empty(total, self._matrix.dtype),
        )  # fmt: skip
        cursor = np.zeros(self._plan.blocks, np.int64)
        cursor[low:high] = begins[:-1]
        for first, rows in self._rows():
            self._gather(first, rows, low, high, cursor, every, write=True)
        return every, begins

    def _gather(
        self, first: int, part: Csr, low: int, high: int, cursor: Int64, into: Entries, *,
        write: bool,
    ) -> None:  # fmt: skip
        plan = self._plan
        gather(
            part.indptr, part.indices, part.data, first,
            self._place, self._owner, plan.starts, plan.begins, plan.children, plan.overlap,
            low, high, self._inner, write, cursor, into.rows, into.columns, into.values,
        )  # fmt: skip

    def _rows(self) -> Iterator[tuple[int, Csr]]:
        """Yield blocks of the stored rows, each with its first row."""
        blocks, ahead = self._matrix.row_blocks(), min(AHEAD, self._pool.threads)
        parts = self._pool.map(lambda block: self._matrix.rows(*block), blocks, ahead)
        yield from zip((first for first, _ in blocks), parts, strict=True)


def _csr(rows: Int32, columns: Int32, values: Array, height: int, width: int) -> Csr:
    import scipy.sparse

    made = scipy.sparse.coo_array((values, (rows, columns)), shape=(height, width)).tocsr()
    made.sort_indices()
    indices = made.indices.astype(np.int32, copy=False)
    return Csr(made.indptr.astype(np.int64), indices, made.data, width)
