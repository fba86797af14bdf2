"""What the rest of the package asks of a matrix, whether it is stored or weighted on the fly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.types import Array, Csr, Float32, Int64
from wordgeom.corpus.vocabulary import Vocabulary


class RowSource(Protocol):
    """Whatever yields stored rows: a matrix on the disk, or one weighted as it is read."""

    @property
    def vocabulary(self) -> Vocabulary:
        """The words of the rows."""

    @property
    def symmetric(self) -> bool:
        """Whether the rows are those of the upper triangle."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the entries."""

    def row_blocks(self, stop: int | None = None) -> list[tuple[int, int]]:
        """Return [start, stop) of row blocks that cover the first `stop` rows."""

    def rows(self, start: int, stop: int) -> Csr:
        """Return stored rows: of the upper triangle where the matrix is symmetric."""


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
        """Whether `with_counts` returns counts."""

    def entries_of(self, chosen: Int64) -> int:
        """Entries of `columns(chosen)`, at most; each takes 4 bytes and those of its value."""

    def full(self) -> Csr:
        """Return G in memory, (V × V), both triangles; of the type that `columns` has.

        Takes up to 12 bytes for each of the `entries`.
        """

    def with_counts(
        self, allocate: Callable[[int, DTypeLike], Array] = np.empty
    ) -> tuple[Csr, Float32] | None:
        """Return G (V × V) on every pair that was counted, and the counts (nnz) themselves.

        Pairs whose weight was clipped to 0 are there. None where weights alone were stored. Takes
        up to 20 bytes for each of the `entries`, 12 in the end, in room that `allocate` makes.
        """
