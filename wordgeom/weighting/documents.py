"""Weights of counts by document, taken as their rows are read: carrington §1.1, §2.3.9, §2.4.2.

Of a count x_ij of word j in document i, one of n:

* raw: x
* rows: x / Σ_j x_ij, so that each row adds up to 1
* log: log(1 + x)
* sqrt: √x
* tf-idf: x log(n / f_j), f_j the documents that hold the word
* ppmi: max(log(x S / (x_i· x_·j)), 0), S all counts

Marginals are those of the whole matrix. What has a weight stands where a count stands: a word of
all documents has tf-idf 0 and keeps its entries, as does what ppmi clips to 0, so that the pattern,
and the memory that it takes, is known before. Computed in float64, returned in float32.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wordgeom.core.types import Array, Csr, Float64, Int64
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.runtime.pool import Pool
from wordgeom.weighting.options import LOG, RAW, ROWS, SQRT, TFIDF, DocumentOptions


class WeightedDocuments:
    """A documents × words matrix, weighted as its rows are read."""

    def __init__(self, counts: StoredDocuments, options: DocumentOptions, pool: Pool) -> None:
        self.counts, self._pool = counts, pool
        self._weigh = _weighting(counts, options.weight)

    @property
    def words(self) -> list[str]:
        """The V words, in order of the columns."""
        return self.counts.vocabulary.words

    @property
    def frequencies(self) -> Int64:
        """(V) how often each word occurs in the corpus."""
        return self.counts.vocabulary.counts

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words."""
        return self.counts.shape

    @property
    def entries(self) -> int:
        """Entries of the whole matrix."""
        return self.counts.stored

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """The type of the entries."""
        return np.dtype(np.float32)

    def row_blocks(self, stop: int | None = None) -> list[tuple[int, int]]:
        """Return [start, stop) of row blocks that cover the first `stop` rows."""
        return self.counts.row_blocks(stop)

    def rows(self, start: int, stop: int) -> Csr:
        """Return the weighted rows of documents [start:stop), float32."""
        block = self.counts.rows(start, stop)
        weights = self._weigh(block).astype(np.float32)
        return Csr(block.indptr, block.indices, weights, block.columns)

    def full(self) -> Csr:
        """Return the whole matrix in memory, (n × V); 8 bytes an entry, and 8 a row."""
        indptr = self.counts.indptr
        indices, data = np.empty(self.entries, np.int32), np.empty(self.entries, np.float32)

        def fill(block: tuple[int, int]) -> None:
            rows = self.rows(*block)
            part = slice(int(indptr[block[0]]), int(indptr[block[1]]))
            indices[part], data[part] = rows.indices, rows.data

        for _ in self._pool.map(fill, self.row_blocks()):
            pass
        return Csr(indptr, indices, data, self.shape[1])


def _weighting(counts: StoredDocuments, weight: str) -> Callable[[Csr], Array]:
    """Return what makes weights, float64, of a block of counts."""
    simple: dict[str, Callable[[Csr], Array]] = {
        RAW: lambda block: block.data,
        ROWS: lambda block: block.data / _row_sums(block),
        LOG: lambda block: np.log1p(block.data, dtype=np.float64),
        SQRT: lambda block: np.sqrt(block.data, dtype=np.float64),
    }
    if weight in simple:
        return simple[weight]
    if weight == TFIDF:
        inverse = _logarithm(len(counts), counts.document_frequencies)
        return lambda block: block.data * inverse[block.indices]
    sums = counts.column_sums
    expected = _logarithm(int(sums.sum()), sums)

    def information(block: Csr) -> Float64:
        share = np.log(block.data / _row_sums(block))
        return np.maximum(share + expected[block.indices], 0.0)

    return information


def _row_sums(block: Csr) -> Float64:
    """Return for each entry the sum of its row."""
    ends = np.concatenate((np.zeros(1, np.int64), np.cumsum(block.data, dtype=np.int64)))
    sums = ends[block.indptr[1:]] - ends[block.indptr[:-1]]
    return np.repeat(sums, np.diff(block.indptr)).astype(np.float64)


def _logarithm(total: int, of: Int64) -> Float64:
    """Return log(total / of); 0 for a column without entries."""
    shares = np.divide(total, of, out=np.ones(len(of)), where=of > 0)
    return np.log(shares)
