"""The entries of a stored matrix, block by block, for export to other formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Csr, Int64
from wordgeom.matrices.cooccurrence import PMI, StoredMatrix
from wordgeom.matrices.document_term import Stored


def blocks(matrix: Stored) -> Iterator[tuple[Int64, Int64, Array]]:
    """Yield blocks of stored entries: row and column indices, and raw data."""
    for start, stop in matrix.row_blocks():
        part = matrix.rows(start, stop)
        yield start + part.entry_rows, part.indices.astype(np.int64), part.data


def values(matrix: Stored, data: Array) -> Array:
    """Return stored data as values: counts in float64, divided by their denominator."""
    if matrix.store.kind == PMI:
        return data
    return np.asarray(data / matrix.denominator)


def as_integers(data: Array) -> Array:
    """Return stored data as integers: counts in units, or the bits of floats."""
    return data.view(np.uint32) if data.dtype == np.float32 else data


@dataclass(frozen=True)
class IntegerMatrix:
    """A stored matrix with its data as integers (counts.merge.Summand)."""

    matrix: StoredMatrix

    @property
    def indptr(self) -> Int64:
        """(V + 1) where each row begins."""
        return self.matrix.indptr

    def rows(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop)."""
        part = self.matrix.rows(start, stop)
        return Csr(part.indptr, part.indices, as_integers(part.data), part.columns)
