"""A stored matrix as methods read it: by row blocks, by selected columns, or in full."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordgeom.core.types import Csr, Float32, Int64
from wordgeom.matrices.columns import select_columns
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.matrices.interfaces import Visit
from wordgeom.matrices.symmetric import full_matrix
from wordgeom.runtime.pool import Pool
from wordgeom.storage.memmap import Allocate, in_memory


class StoredRows:
    """A stored matrix as an interfaces.Matrix and an interfaces.RowSource."""

    def __init__(self, matrix: StoredMatrix, pool: Pool) -> None:
        self.vocabulary, self.symmetric = matrix.vocabulary, matrix.symmetric
        self._matrix, self._pool = matrix, pool

    @property
    def words(self) -> list[str]:
        """The V words, in order of the rows."""
        return self.vocabulary.words

    @property
    def frequencies(self) -> Int64:
        """The corpus frequencies (V) of the words."""
        return self.vocabulary.counts

    @property
    def made(self) -> dict[str, Any]:
        """The options with which it was counted or weighted, by name, as far as recorded."""
        return dict(self._matrix.store.card.get("request", {}).get("options", {}))

    def row_blocks(self, stop: int | None = None) -> list[tuple[int, int]]:
        """Return [start, stop) of blocks of the first `stop` rows."""
        return self._matrix.row_blocks(stop)

    def rows(self, start: int, stop: int) -> Csr:
        """Return stored rows: of the upper triangle where the matrix is symmetric."""
        return self._matrix.rows(start, stop)

    def columns(self, chosen: Int64) -> Csr:
        """Return G[:, chosen], (V × len(chosen)), for ascending `chosen`."""
        return select_columns(self, chosen, self._pool)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the entries."""
        stored: np.dtype[Any] = self._matrix.store.array("data").dtype
        return stored

    @property
    def has_counts(self) -> bool:
        """False: the matrix has no counts."""
        return False

    @property
    def entries(self) -> int:
        """An upper bound of the entries of the full matrix."""
        return self._matrix.stored * (2 if self.symmetric else 1)

    def entries_of(self, chosen: Int64) -> int:
        """Return an upper bound of the entries of G[:, chosen], for ascending `chosen`."""
        m = len(chosen)
        most = min(m * len(self.vocabulary), self.entries)
        if self.symmetric and m > 0 and int(chosen[-1]) == m - 1:
            # The first m stored rows, and once more their entries in the first m columns.
            stored = int(self._matrix.indptr[m])
            most = min(most, stored + min(stored, m * (m - 1) // 2))
        return most

    def full(self) -> Csr:
        """Return G (V × V) in memory, both triangles."""
        return full_matrix(self, self._pool)

    def with_counts(self, allocate: Allocate = in_memory) -> tuple[Csr, Float32] | None:
        """Return None: the matrix has no counts."""
        return None

    def pair_counts(self, visit: Visit | None = None, allocate: Allocate = in_memory) -> Csr | None:
        """Return None: the matrix has no counts."""
        return None
