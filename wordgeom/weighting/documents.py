"""Weights of document-term counts, computed as rows are read: carrington §1.1, §2.3.9, §2.4.2.

The weight of a count x_ij of word j in document i, one of n:

* raw: x
* rows: x / Σ_j x_ij, so that each row sums to 1
* log: log(1 + x)
* sqrt: √x
* tf-idf: x log(n / f_j), with the document frequency f_j
* ppmi: max(log(x S / (x_i· x_·j)), 0), with the sum S of all counts

Marginals are those of the full matrix. Weights of 0 are stored as well, so that the pattern, and
its memory, are those of the counts. Computed in float64, returned in float32.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wordgeom.core.types import Array, Csr, Float64, Int64, offsets
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.runtime.pool import Pool
from wordgeom.weighting.options import LOG, RAW, ROWS, SQRT, TFIDF, DocumentOptions


class WeightedDocuments:
    """A document-term matrix, weighted as its rows are read."""

    def __init__(self, counts: StoredDocuments, options: DocumentOptions, pool: Pool) -> None:
        self.counts, self._pool = counts, pool
        self.weight = options.weight
        self._weigh = _weighting(counts, options.weight)

    @property
    def words(self) -> list[str]:
        """The V words, in order of the columns."""
        return self.counts.vocabulary.words

    @property
    def shape(self) -> tuple[int, int]:
        """Documents and words."""
        return self.counts.shape

    @property
    def entries(self) -> int:
        """Number of entries."""
        return self.counts.stored

    def rows(self, start: int, stop: int) -> Csr:
        """Return the weighted rows of documents [start:stop), float32."""
        block = self.counts.rows(start, stop)
        weights = self._weigh(block).astype(np.float32)
        return Csr(block.indptr, block.indices, weights, block.columns)

    def full(self) -> Csr:
        """Return the matrix (n × V) in memory: 8 bytes an entry, and 8 a row."""
        indptr = self.counts.indptr
        indices, data = np.empty(self.entries, np.int32), np.empty(self.entries, np.float32)

        def fill(block: tuple[int, int]) -> None:
            rows = self.rows(*block)
            part = slice(int(indptr[block[0]]), int(indptr[block[1]]))
            indices[part], data[part] = rows.indices, rows.data

        for _ in self._pool.map(fill, self.counts.row_blocks()):
            pass
        return Csr(indptr, indices, data, self.shape[1])


def _weighting(counts: StoredDocuments, weight: str) -> Callable[[Csr], Array]:
    """Return the function from a block of counts to its weights, float64."""
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
    """Return the row sum of each entry."""
    ends = offsets(block.data)
    sums = ends[block.indptr[1:]] - ends[block.indptr[:-1]]
    return np.repeat(sums, np.diff(block.indptr)).astype(np.float64)


def _logarithm(total: int, of: Int64) -> Float64:
    """Return log(total / of), 0 for a column without entries."""
    shares = np.divide(total, of, out=np.ones(len(of)), where=of > 0)
    return np.log(shares)
