"""The rows and columns of some words of a stored matrix."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordgeom.core.types import Csr, Int32, Int64
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.matrices import column_kernels as kernels
from wordgeom.matrices.columns import positions
from wordgeom.matrices.interfaces import RowSource
from wordgeom.matrices.symmetric import expanded
from wordgeom.runtime.pool import Pool
from wordgeom.storage.memmap import in_memory


def submatrix(source: RowSource, chosen: Int64, pool: Pool) -> Csr:
    """Return G[chosen, chosen] (m × m), both triangles, for ascending `chosen`, in its dtype."""
    return expanded(ChosenRows(source, chosen), pool, in_memory)


class ChosenRows:
    """The stored rows of chosen words, in their columns alone, as a RowSource."""

    def __init__(self, source: RowSource, chosen: Int64) -> None:
        words, counts = source.vocabulary.words, source.vocabulary.counts
        self.vocabulary = Vocabulary([words[i] for i in chosen.tolist()], counts[chosen])
        self.symmetric = source.symmetric
        self._source, self._chosen = source, chosen
        self._position: Int32 = positions(chosen, len(words))

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the entries."""
        return self._source.dtype

    def row_blocks(self, stop: int | None = None) -> list[tuple[int, int]]:
        """Return [start, stop) of blocks of the first `stop` rows, each from one stored block."""
        m = len(self._chosen) if stop is None else stop
        blocks = self._source.row_blocks(int(self._chosen[m - 1]) + 1 if m else 0)
        ranges = np.searchsorted(self._chosen, np.array(blocks, np.int64).reshape(-1, 2))
        return [(first, last) for first, last in ranges.tolist() if first < last]

    def rows(self, start: int, stop: int) -> Csr:
        """Return the rows [start:stop), which lie in one block of stored rows."""
        chosen = self._chosen[start:stop]
        first = int(chosen[0])
        stored = self._source.rows(first, int(chosen[-1]) + 1)
        indptr = np.zeros(len(chosen) + 1, np.int64)
        kernels.count_kept(stored.indptr, stored.indices, chosen - first, self._position, indptr)
        np.cumsum(indptr, out=indptr)
        indices = np.empty(indptr[-1], np.int32)
        data = np.empty(indptr[-1], stored.data.dtype)
        kernels.keep(
            stored.indptr, stored.indices, stored.data, chosen - first, self._position,
            indptr, indices, data,
        )  # fmt: skip
        return Csr(indptr, indices, data, len(self._chosen))
