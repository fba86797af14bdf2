"""The values that stages hand to each other, and what a method is given and gives back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wordgeom.runtime.progress import Progress

if TYPE_CHECKING:
    from wordgeom.linalg.ops import Ops
    from wordgeom.runtime.pool import Pool

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Int32 = NDArray[np.int32]
Int64 = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Array = NDArray[Any]


@dataclass(frozen=True)
class Csr:
    """A sparse block: row r holds indices[indptr[r]:indptr[r+1]], ascending, and their data.

    indptr (rows + 1) int64; indices (nnz) int32; data (nnz) of any number type.
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

    def block(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop), views of the entries."""
        begin, end = int(self.indptr[start]), int(self.indptr[stop])
        indptr = self.indptr[start : stop + 1] - begin
        return Csr(indptr, self.indices[begin:end], self.data[begin:end], self.columns)

    def select(self, rows: Int64) -> Csr:
        """Return some of the rows, ascending; the block itself where they are all."""
        if len(rows) == self.rows:
            return self
        lengths = np.diff(self.indptr)
        kept = np.zeros(self.rows, bool)
        kept[rows] = True
        entries = np.repeat(kept, lengths)
        indptr = np.concatenate((np.zeros(1, np.int64), np.cumsum(lengths[rows])))
        return Csr(indptr, self.indices[entries], self.data[entries], self.columns)


class Matrix(Protocol):
    """A words × contexts matrix as a method reads it: from a store, or weighted on the fly."""

    @property
    def words(self) -> list[str]:
        """The V words, in order of the rows."""

    @property
    def frequencies(self) -> Int64:
        """(V) how often each word occurs in the corpus."""

    @property
    def symmetric(self) -> bool:
        """Whether G_ij = G_ji by construction."""

    def columns(self, chosen: Int64) -> Csr:
        """Return G[:, chosen], (V × len(chosen)), for ascending `chosen`; float32 data.

        A matrix that is stored in float64 keeps that type.
        """

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the entries: float32, or float64 where it is stored so."""

    @property
    def entries(self) -> int:
        """Entries of the whole matrix, at most."""

    @property
    def has_counts(self) -> bool:
        """Whether `counted` returns counts."""

    def entries_of(self, chosen: Int64) -> int:
        """Entries of `columns(chosen)`, at most; each takes 4 bytes and those of its value."""

    def whole(self) -> Csr:
        """Return G in memory, (V × V), both triangles; of the type that `columns` has.

        Takes up to 12 bytes for each of the `entries`.
        """

    def counted(
        self, allocate: Callable[[int, DTypeLike], Array] = np.empty
    ) -> tuple[Csr, Float32] | None:
        """Return G (V × V) on every pair that was counted, and the counts (nnz) themselves.

        Pairs whose weight was clipped to 0 are there. None where weights alone were stored. Takes
        up to 20 bytes for each of the `entries`, 12 in the end, in room that `allocate` makes.
        """


class Checkpoint(Protocol):
    """Keeps the state of a long run, so that a later one can go on from it."""

    def restore(self) -> Mapping[str, Array] | None:
        """Return the state that an earlier run of the same request left, or None."""

    def save(self, state: Callable[[], Mapping[str, Array]]) -> None:
        """Keep a state, if it is time to; it is asked for only then."""


@dataclass
class Run:
    """What a method may use besides its inputs and options.

    memory: bytes; progress: follows long loops; checkpoint: keeps the state of a long run; folder:
    for scratch files, None for the system's; pool: for blocks that `ops` knows nothing of, None for
    the calling thread.
    """

    ops: Ops
    rng: np.random.Generator
    memory: int
    progress: Progress = field(default_factory=Progress)
    checkpoint: Checkpoint | None = None
    folder: str | None = None
    pool: Pool | None = None


@dataclass
class Result:
    """What a method gives back.

    vectors (V × K) float32, C-order; arrays: named extras; notes: what a user must be told
    (a rank too small, no convergence); statistics: numbers for the run card.
    """

    vectors: Float32
    arrays: Mapping[str, Array] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    statistics: dict[str, Any] = field(default_factory=dict)
