"""The entries of each block, gathered from one pass over the stored rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Csr, Float64, Int32, Int64, offsets
from wordgeom.matrices.interfaces import Matrix
from wordgeom.methods.dc.gather_kernels import gather
from wordgeom.methods.dc.plan import Plan
from wordgeom.runtime.pool import Pool

ENTRY = 12  # bytes of an entry while it is gathered, for float32 values
CONVERTED = 56  # and at most, while entries are converted to a symmetric matrix


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

    def symmetric(self, size: int) -> Csr:
        """Return the block (size × size), both triangles, in the dtype of its values."""
        off = self.rows != self.columns
        rows = np.concatenate((self.rows, self.columns[off]))
        columns = np.concatenate((self.columns, self.rows[off]))
        return _csr(rows, columns, np.concatenate((self.values, self.values[off])), size, size)

    def below(self, overlap: int, size: int) -> Csr:
        """Return the rows of the block's own words against its overlap (size × overlap)."""
        return _csr(self.rows - np.int32(overlap), self.columns, self.values, size, overlap)


class Source:
    """A matrix, as the blocks of a plan; inner: with the entries between a block's own words."""

    def __init__(self, matrix: Matrix, plan: Plan, pool: Pool, *, inner: bool) -> None:
        self._matrix, self._plan, self._pool, self._inner = matrix, plan, pool, inner
        V = len(plan.order)
        self._place = np.empty(V, np.int64)
        self._place[plan.order] = np.arange(V)
        self._owner = np.repeat(np.arange(plan.blocks), np.diff(plan.starts))

    def counts(self) -> Int64:
        """Return the number of entries of each block (P); the first has those of its own words."""
        nothing = Entries(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))
        first = np.zeros(self._plan.blocks, np.int64)
        self._run(0, 1, True, first, nothing, write=False)
        rest = np.zeros(self._plan.blocks, np.int64)
        self._run(1, self._plan.blocks, self._inner, rest, nothing, write=False)
        return first + rest

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
        self._run(low, high, self._inner or low == 0, cursor, every, write=True)
        for start, stop in zip(begins[:-1].tolist(), begins[1:].tolist(), strict=True):
            part = slice(start, stop)
            yield Entries(every.rows[part], every.columns[part], every.values[part])

    def _run(
        self, low: int, high: int, inner: bool, cursor: Int64, into: Entries, *, write: bool
    ) -> None:
        plan, matrix = self._plan, self._matrix
        # An entry of the first block is stored in the row of one of its words.
        stop = int(plan.order[: plan.starts[1]].max()) + 1 if high == 1 else None
        blocks = matrix.row_blocks(stop)
        parts = self._pool.map(lambda block: matrix.rows(*block), blocks, self._pool.threads)
        for (first, _), part in zip(blocks, parts, strict=True):
            gather(
                part.indptr, part.indices, part.data, first,
                self._place, self._owner, plan.starts, plan.begins, plan.children, plan.overlap,
                low, high, inner, write, cursor, into.rows, into.columns, into.values,
            )  # fmt: skip


def _csr(rows: Int32, columns: Int32, values: Array, height: int, width: int) -> Csr:
    import scipy.sparse

    made = scipy.sparse.coo_array((values, (rows, columns)), shape=(height, width)).tocsr()
    made.sort_indices()
    return Csr(
        made.indptr.astype(np.int64), made.indices.astype(np.int32, copy=False), made.data, width
    )
