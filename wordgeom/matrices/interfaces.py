"""The interfaces of matrices, stored or weighted on the fly."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.types import Array, Csr, Float32, Int64

if TYPE_CHECKING:
    from wordgeom.corpus.vocabulary import Vocabulary

Visit = Callable[[int, Csr], None]  # of some rows of a matrix, after the number of the first


class RowSource(Protocol):
    """A source of stored rows: a matrix on disk, or one that is weighted as it is read."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the rows."""

    @property
    def symmetric(self) -> bool:
        """Whether the stored rows are those of the upper triangle."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the entries."""

    def row_blocks(self, stop: int | None = None) -> list[tuple[int, int]]:
        """Return [start, stop) of blocks of the first `stop` rows."""

    def rows(self, start: int, stop: int) -> Csr:
        """Return stored rows: of the upper triangle where the matrix is symmetric."""


class Matrix(RowSource, Protocol):
    """A words × words matrix G as a method reads it: from a store, or weighted on the fly."""

    @property
    def words(self) -> list[str]:
        """The V words, in order of the rows."""

    @property
    def frequencies(self) -> Int64:
        """The corpus frequencies (V) of the words."""

    @property
    def symmetric(self) -> bool:
        """Whether G_ij = G_ji by construction."""

    @property
    def made(self) -> dict[str, Any]:
        """The options with which it was counted and weighted, by name, as far as recorded."""

    def columns(self, chosen: Int64) -> Csr:
        """Return G[:, chosen], (V × len(chosen)), for ascending `chosen`, in `dtype`."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the entries: float32, or float64 where the matrix is stored in it."""

    @property
    def entries(self) -> int:
        """An upper bound of the entries of the full matrix."""

    @property
    def has_counts(self) -> bool:
        """Whether `with_counts` and `pair_counts` return counts."""

    def entries_of(self, chosen: Int64) -> int:
        """Return an upper bound of the entries of `columns(chosen)`: 4 bytes and a value each."""

    def full(self) -> Csr:
        """Return G (V × V) in memory, both triangles, in `dtype`; at most 12 bytes an entry."""

    def with_counts(
        self, allocate: Callable[[int, DTypeLike], Array] = np.empty
    ) -> tuple[Csr, Float32] | None:
        """Return G (V × V) on every counted pair, and the counts (nnz); None without counts.

        Pairs whose weight was clipped to 0 are included. `allocate` allocates the arrays: up to 14
        bytes for each of the `entries`, 12 of the result.
        """

    def pair_counts(
        self, visit: Visit | None = None, allocate: Callable[[int, DTypeLike], Array] = np.empty
    ) -> Csr | None:
        """Return the counts (V × V) float32 of these pairs; None without counts.

        visit gets the rows of G on these pairs as they are made, a range at a time, so that they
        are not held: its first row, and the rows. Up to 11 bytes for each of the `entries`, 8 of
        the result.
        """
