"""The sum of several count matrices over the same words, block of rows by block of rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np

from wordgeom.core.types import Csr, Int64
from wordgeom.counts import kernels
from wordgeom.counts.count_rows import ENTRIES, Finished, Rows, Workshop, cut_rows, lend
from wordgeom.runtime.pool import Pool


class Summand(Protocol):
    """A matrix whose rows can be read: indptr (V + 1), rows(start, stop)."""

    @property
    def indptr(self) -> Int64:
        """(V + 1) where each row begins."""

    def rows(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop)."""


def merge(
    summands: Sequence[Summand],
    words: int,
    symmetric: bool,
    dtype: np.dtype[np.uint32] | np.dtype[np.int64],
    pool: Pool,
    first: int = 0,
) -> tuple[Iterator[Rows], Workshop]:
    """Return the blocks of rows of the sum, and the workshop that knows its sums at the end.

    symmetric: the summands are upper triangles; first: the row to begin with.
    """
    lengths = sum((np.diff(s.indptr) for s in summands), np.zeros(words, np.int64))
    blocks = cut_rows(lengths, lengths, ENTRIES, first)
    room = max((int(lengths[a:b].sum()) for a, b in blocks), default=0)
    workshop = Workshop(words, symmetric, room, dtype)

    def run(block: tuple[int, int]) -> Finished:
        start, last = block
        parts = [s.rows(start, last) for s in summands]
        shifts = np.cumsum([0, *(len(p.indices) for p in parts[:-1])])
        offsets = np.stack([p.indptr + shift for p, shift in zip(parts, shifts, strict=True)])
        from_indices = np.concatenate([p.indices for p in parts])
        from_values = np.concatenate([p.data for p in parts])
        bench, buffers = workshop.benches.take(), workshop.buffers.take()
        indices, values = buffers
        n = kernels.merge_rows(
            offsets, from_indices, from_values, start, symmetric,
            bench.cells, bench.touched, bench.groups, bench.found,
            indices, values, bench.lengths, bench.row_sums, bench.column_sums,
        )  # fmt: skip
        counted = bench.lengths[start:last].copy()
        workshop.benches.give_back(bench)
        return Finished(Rows(start, counted, indices[:n], values[:n]), buffers)

    return lend(pool.map(run, blocks), workshop), workshop
