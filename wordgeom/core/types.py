"""The types that every package shares: arrays, sparse blocks and checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Array = NDArray[Any]
Allocate = Callable[[tuple[int, int], np.dtype[Any]], Array]  # such as numpy.empty


@dataclass(frozen=True)
class Csr:
    """A sparse block in CSR: the columns of row r, ascending, are indices[indptr[r]:indptr[r+1]].

    indptr (rows + 1) int64; indices (nnz) int32; data (nnz) of any numeric dtype.
    """

    indptr: Int64
    indices: Int32
    data: Array
    columns: int

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(self.indptr) - 1

    @property
    def nnz(self) -> int:
        """Number of stored entries."""
        return len(self.indices)

    @property
    def entry_rows(self) -> Int64:
        """The row of each entry (nnz)."""
        return np.repeat(np.arange(self.rows), np.diff(self.indptr))

    def block(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop), whose entries are views."""
        begin, end = int(self.indptr[start]), int(self.indptr[stop])
        indptr = self.indptr[start : stop + 1] - begin
        return Csr(indptr, self.indices[begin:end], self.data[begin:end], self.columns)

    def select(self, rows: Int64) -> Csr:
        """Return the given rows, ascending; the block itself where these are all rows."""
        if len(rows) == self.rows:
            return self
        lengths = np.diff(self.indptr)
        selected = np.zeros(self.rows, bool)
        selected[rows] = True
        entries = np.repeat(selected, lengths)
        return Csr(offsets(lengths[rows]), self.indices[entries], self.data[entries], self.columns)


def offsets(lengths: Array) -> Int64:
    """Return where consecutive runs of the given lengths begin, and where the last one ends."""
    return np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)))


class Checkpoint(Protocol):
    """Saves the state of a long run, so that `--resume` continues from it."""

    def restore(self) -> Mapping[str, Array] | None:
        """Return the state of an interrupted run of the same request, or None."""

    def save(self, state: Callable[[], Mapping[str, Array]]) -> None:
        """Save a state if a checkpoint is due; it is computed only then."""


class BlockCheckpoint(Checkpoint, Protocol):
    """A checkpoint that also saves the results of finished blocks, by name."""

    def holds(self, name: str) -> bool:
        """Return whether an interrupted run saved a result under a name."""

    def find(self, name: str) -> Mapping[str, Array]:
        """Return the result that an interrupted run saved under a name."""

    def keep(self, name: str, result: Mapping[str, Array]) -> None:
        """Save a result at the next checkpoint, or when the run is interrupted."""
