"""Pointwise mutual information of counts: khalife eq. 15–16, with shift and smoothing.

G_ij = log(C_ij S / (C_i· C_·j)) − log k where C_ij > 0, else 0 (`--neg` k); PPMI is max(G, 0).
With `--cds` a, C_·j / S becomes C_·j^a / Σ C_·j^a; for symmetric counts, G and its transpose are
then averaged, after clipping. Sums are those of the full matrix, as integers; S is the sum of all
counts. Logarithms are computed in float64 and stored in float32.

NPMI (Bouma 2009) is max(G, 0) / −log(C_ij / S), 1 where the two words occur only together. As in
histwords, shift and smoothing come before the division. It is clipped because missing entries are
0: pairs that never co-occur, whose NPMI is −1, would otherwise rank above rare pairs. Without
smoothing it is at most 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Csr, Float32, Float64, Int64
from wordgeom.matrices import cooccurrence
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.matrices.interfaces import Visit
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.matrices.symmetric import expand_rows, full_offsets
from wordgeom.runtime.pool import Pool
from wordgeom.storage.memmap import Allocate, in_memory
from wordgeom.weighting import kernels
from wordgeom.weighting.options import NPMI, PMI, PmiOptions

# Parts of the matrix whose exact counts are in memory at a time, and the least entries of one.
_RANGES, _LEAST_RANGE = 4, 1 << 20


@dataclass(frozen=True, eq=False)
class PmiWeights:
    """What turns counts into PMI: rows, columns (V) float64: 1 / C_i· and 1 / p_j.

    shift: log k; clip: raise negative values to 0; both: average the values of (i, j) and (j, i);
    total: S of NPMI, else 0.
    """

    rows: Float64
    columns: Float64
    shift: float
    clip: bool
    both: bool
    total: float

    @classmethod
    def of(cls, counts: StoredMatrix, options: PmiOptions) -> PmiWeights:
        """Return the weights of stored counts."""
        sums = counts.sums("row")
        return cls(
            _inverse(sums.astype(np.float64)),
            _inverse(_context_shares(counts.sums("column"), options.cds)),
            math.log(options.neg),
            options.weighting != PMI,
            counts.symmetric and options.cds != 1.0,
            _total(sums) if options.weighting == NPMI else 0.0,
        )

    def weigh(self, counts: Csr, start: int, *, drop: bool = True) -> Csr:
        """Return rows of counts from row `start` weighted; drop: without clipped entries."""
        indptr = np.empty(counts.rows + 1, np.int64)
        indices = np.empty(counts.nnz, np.int32)
        data = np.empty(counts.nnz, np.float32)
        kept = kernels.weight_rows(
            counts.indptr, counts.indices, counts.data, start, self.rows, self.columns,
            self.shift, self.clip, self.both, indptr, indices, data, self.total, drop,
        )  # fmt: skip
        return Csr(indptr, indices[:kept], data[:kept], counts.columns)


class WeightedMatrix(StoredRows):
    """The PMI matrix of stored counts, weighted as its rows are read."""

    def __init__(self, counts: StoredMatrix, options: PmiOptions, pool: Pool) -> None:
        super().__init__(counts, pool)
        self._options = options
        self.counts, self.weights = counts, PmiWeights.of(counts, options)

    @property
    def dtype(self) -> np.dtype[np.float32]:
        """The dtype of the entries."""
        return np.dtype(np.float32)

    @property
    def has_counts(self) -> bool:
        """True: `with_counts` returns the counts."""
        return True

    @property
    def made(self) -> dict[str, Any]:
        """The options of the counts, as far as recorded, and of the weighting."""
        return super().made | self._options.result_options()

    def rows(self, start: int, stop: int) -> Csr:
        """Return weighted rows in float32, without the entries that were clipped."""
        return self.weights.weigh(self._matrix.rows(start, stop), start)

    def with_counts(self, allocate: Allocate = in_memory) -> tuple[Csr, Float32]:
        """Return G (V × V) on every counted pair, and the counts (nnz)."""
        counts = self._empty_pairs(allocate)
        data = allocate(counts.nnz, np.float32)
        for low, high in self._ranges(counts):
            part = slice(counts.indptr[low], counts.indptr[high])
            self._fill((low, high), counts, data[part], allocate)
        return Csr(counts.indptr, counts.indices, data, counts.columns), counts.data

    def pair_counts(self, visit: Visit | None = None, allocate: Allocate = in_memory) -> Csr:
        """Return the counts (V × V) of all pairs; visit gets the rows of G on them."""
        counts = self._empty_pairs(allocate)
        for low, high in self._ranges(counts):
            length = int(counts.indptr[high] - counts.indptr[low])
            own = self._fill((low, high), counts, allocate(length, np.float32), allocate)
            if visit is not None:
                visit(low, own)
            del own  # before the next
        return counts

    def _empty_pairs(self, allocate: Allocate) -> Csr:
        """Return the counts of all pairs, whose columns and values are still to be filled in."""
        indptr = full_offsets(StoredRows(self._matrix, self._pool), self._pool)
        nnz = int(indptr[-1])
        indices, data = allocate(nnz, np.int32), allocate(nnz, np.float32)
        return Csr(indptr, indices, data, len(self.vocabulary))

    def _ranges(self, counts: Csr) -> list[tuple[int, int]]:
        """Return the ranges of rows that are filled in at a time."""
        return row_blocks(counts.indptr, entries=max(_LEAST_RANGE, counts.nnz // _RANGES))

    def _fill(self, rows: tuple[int, int], counts: Csr, data: Float32, allocate: Allocate) -> Csr:
        """Fill in rows of `counts`, and return the rows of G, whose weights are `data`."""
        low, high = rows
        stored, part = StoredRows(self._matrix, self._pool), slice(*counts.indptr[[low, high]])
        # Exact counts take 8 bytes each, so they are held for one range of rows at a time.
        exact = allocate(part.stop - part.start, stored.dtype)
        indices = counts.indices[part]
        expand_rows(stored, self._pool, counts.indptr, rows, indices, exact)
        indptr = counts.indptr[low : high + 1] - counts.indptr[low]
        self._weigh(Csr(indptr, indices, exact, counts.columns), low, data, counts.data[part])
        return Csr(indptr, indices, data, counts.columns)

    def _weigh(self, counts: Csr, first: int, data: Float32, values: Float32) -> None:
        """Set data to the weights of rows from row `first`, and values to their counts."""

        def run(block: tuple[int, int]) -> None:
            part = slice(counts.indptr[block[0]], counts.indptr[block[1]])
            own = self.weights.weigh(counts.block(*block), first + block[0], drop=False)
            data[part] = own.data
            np.divide(counts.data[part], self._matrix.denominator, values[part], casting="unsafe")

        for _ in self._pool.map(run, row_blocks(counts.indptr)):
            pass


def weighted(matrix: StoredMatrix, options: PmiOptions, pool: Pool) -> StoredRows:
    """Return a matrix as methods read it: counts weighted on the fly, stored weights unchanged."""
    if matrix.store.kind == cooccurrence.PMI:
        return StoredRows(matrix, pool)
    return WeightedMatrix(matrix, options, pool)


def _context_shares(sums: Int64, cds: float) -> Float64:
    """Return C_·j^cds / Σ C_·j^cds, (V)."""
    if cds == 1.0:
        return sums / (_total(sums) or 1.0)
    powers = sums.astype(np.float64) ** cds
    powers[sums == 0] = 0.0
    return np.asarray(powers / (powers.sum() or 1.0))


def _total(sums: Int64) -> float:
    """Return S, exactly: the sum of fixed-point counts may exceed int64."""
    return float(sum(sums.tolist()))


def _inverse(values: Float64) -> Float64:
    """Return 1 / values, 0 for a word without counts."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0)
