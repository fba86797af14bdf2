"""The primitives in NumPy and Numba, with the same bytes at any number of threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wordgeom.core.ops import RowSolutions
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Csr, Float64, Int64
from wordgeom.linalg import kernels, row_solver_kernels
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.numpy_logistic import LogisticRows
from wordgeom.linalg.row_work import solver_blocks
from wordgeom.linalg.signs import fix_signs
from wordgeom.runtime.pool import Pool

_ROWS = 8192  # rows of a block of a tall matrix
_COLUMNS, _NUMBERS = 1 << 15, 1 << 17  # of a block of long rows: least columns, and numbers
# Column tiles of a product keep the rows of the right side and the sums in a core's cache (1 MB at
# 64 columns). The first tiles, of frequent words, have 4096 columns; later ones double.
_TILE_COLUMNS, _NARROW_TILES = 4096, 4
# Mean entries of a row in a tile from which all tiles are narrow: 1.6 times as fast for documents,
# 116,597 equally frequent columns of 772 entries each.
_FILLED = 48
_BLOCK_ENTRIES, _ROW = 1 << 20, 256  # entries of a block of rows; cost of a row in entries


class NumpyOps:
    """Linear algebra on the CPU, in blocks on the pool."""

    device = "cpu"

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def eigh_top(self, symmetric: Float64, k: int) -> tuple[Float64, Float64]:
        """Return the k algebraically largest eigenvalues, descending (k), and vectors (m × k)."""
        # A threaded LAPACK adds in an order that depends on the number of threads.
        with one_thread():
            values, vectors = self._pool.call(lambda: np.linalg.eigh(symmetric))  # ascending
        top = slice(None, -k - 1, -1)
        return values[top].copy(), np.ascontiguousarray(fix_signs(vectors[:, top]))

    def operator(self, sparse: Csr) -> SparseOperator:
        """Return a sparse matrix as an operator; needs 8 bytes per row and tile in addition."""
        return SparseOperator(sparse, self._pool)

    def spmm(self, sparse: Csr, dense: NDArray[Any]) -> NDArray[Any]:
        """Return sparse (V × m) times dense (m × K), (V × K), in the dtype of the sparse data."""
        return self.operator(sparse).multiply(dense.astype(sparse.data.dtype, copy=False))

    def row_solver(self, targets: Csr, weights: Array) -> SparseRows:
        """Return a solver of the weighted least squares of all rows."""
        return SparseRows(targets, weights, self._pool)

    def logistic_solver(self, counts: Csr) -> LogisticRows:
        """Return a solver of the logistic loss of all rows."""
        return LogisticRows(counts, self._pool)

    def tall(self, array: Array, dtype: DTypeLike) -> Array:
        """Return a C-contiguous copy of an array (V × k) in `dtype`."""
        return np.array(array, dtype, order="C")

    def empty(self, rows: int, columns: int, dtype: DTypeLike) -> Array:
        """Return an uninitialised array (rows × columns)."""
        return np.empty((rows, columns), dtype)

    def to_numpy(self, tall: Array) -> Array:
        """Return the array, C-contiguous."""
        return np.ascontiguousarray(tall)

    def inner(self, left: Array, right: Array) -> Float64:
        """Return leftᵀ right, (k × l): blocks in the dtype of the arrays, summed in float64."""
        total = np.zeros((left.shape[1], right.shape[1]))
        for part in self._by_rows(len(left), lambda rows: left[rows].T @ right[rows]):
            total += part
        return total

    def subtract(self, tall: Array, basis: Array, weights: Float64) -> None:
        """Subtract basis (V × k) times weights (k × l) from tall (V × l), in place."""
        cast = weights.astype(tall.dtype)

        def run(rows: slice) -> None:
            tall[rows] -= basis[rows] @ cast

        for _ in self._by_rows(len(tall), run):
            pass

    def combine(self, basis: Array, weights: Float64) -> Array:
        """Return basis (V × k) times weights (k × l), (V × l), newly allocated."""
        cast = weights.astype(basis.dtype)
        out = np.empty((len(basis), weights.shape[1]), basis.dtype)

        def run(rows: slice) -> None:
            np.matmul(basis[rows], cast, out=out[rows])

        for _ in self._by_rows(len(out), run):
            pass
        return out

    def moments(self, tall: Array, weights: Float64) -> tuple[Float64, Float64]:
        """Return Σ w_i t_i t_iᵀ (k × k) and Σ w_i t_i (k) of the rows of a tall matrix (V × k)."""

        def part(block: slice) -> tuple[Array, Array]:
            weighted = tall[block] * weights[block, None].astype(tall.dtype)
            return weighted.T @ tall[block], weighted.sum(axis=0, dtype=np.float64)

        K = tall.shape[1]
        squares, sums = np.zeros((K, K)), np.zeros(K)
        for product, total in self._by_rows(len(tall), part):
            squares += product
            sums += total
        return squares, sums

    def row_products(self, left: Array, right: Sequence[Array]) -> Float64:
        """Return left rightᵀ (a × b) of a few long rows: left (a × N), right: b rows (N)."""
        rows = tuple(right)

        def part(block: slice) -> Float64:
            out = np.empty((len(left), len(rows)))
            kernels.multiply_long_rows(left, rows, block.start, block.stop, out)
            return out

        total = np.zeros((len(left), len(right)))
        columns = max(_COLUMNS, _NUMBERS // len(left))
        for product in self._by_blocks(left.shape[1], columns, part):
            total += product
        return total

    def row_sum(self, weights: Float64, rows: Array) -> Array:
        """Return weights (a) times a few long rows (a × N), (N), newly allocated."""
        cast, out = weights.astype(rows.dtype), np.empty(rows.shape[1], rows.dtype)

        def run(block: slice) -> None:
            np.matmul(cast, rows[:, block], out=out[block])

        for _ in self._by_blocks(len(out), _COLUMNS, run):
            pass
        return out

    def along(self, start: Array, step: float, direction: Array, out: Array | None = None) -> Array:
        """Return start + step · direction, of two arrays of one shape, in `out` or a new one."""
        size, out = start.dtype.type(step), np.empty_like(start) if out is None else out
        ends, ways, sums = (array.reshape(-1) for array in (start, direction, out))

        def run(block: slice) -> None:
            np.multiply(ways[block], size, out=sums[block])
            sums[block] += ends[block]

        for _ in self._by_blocks(len(sums), _NUMBERS, run):
            pass
        return out

    def scale_rows(self, tall: Array, factors: Float64) -> None:
        """Multiply the rows of a tall matrix (V × k) by factors (V), in place."""
        cast = factors.astype(tall.dtype)[:, None]

        def run(rows: slice) -> None:
            np.multiply(tall[rows], cast[rows], out=tall[rows])

        for _ in self._by_rows(len(tall), run):
            pass

    def _by_rows(self, rows: int, function: Callable[[slice], Any]) -> Iterator[Any]:
        """Yield function(block) for blocks of rows, in order, with BLAS on one thread each."""
        yield from self._by_blocks(rows, _ROWS, function)

    def _by_blocks(self, length: int, most: int, function: Callable[[slice], Any]) -> Iterator[Any]:
        blocks = [slice(start, min(start + most, length)) for start in range(0, length, most)]
        with one_thread():
            yield from self._pool.each(function, blocks)


class SparseOperator:
    """A sparse matrix (V × m) that multiplies by column tiles, blocks of rows on the pool."""

    def __init__(self, sparse: Csr, pool: Pool) -> None:
        self._sparse, self._pool = sparse, pool
        self._splits = _splits(sparse)
        work = sparse.indptr + _ROW * np.arange(len(sparse.indptr))
        self._blocks = row_blocks(work, entries=_BLOCK_ENTRIES)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self._sparse.rows, self._sparse.columns

    def multiply(self, tall: Array) -> Array:
        """Return the matrix times `tall` (m × k), (V × k), in the dtype of `tall`."""
        right = np.ascontiguousarray(tall)
        out = np.empty((self._sparse.rows, right.shape[1]), right.dtype)

        def run(rows: tuple[int, int]) -> None:
            kernels.multiply_rows(
                self._splits, self._sparse.indices, self._sparse.data, right, *rows, out
            )

        for _ in self._pool.each(run, self._blocks):
            pass
        return out


class SparseRows:
    """Weighted least squares of the rows of a pattern (ops.RowSolver), blocks on the pool.

    The solution of a row depends on that row alone, not on the blocks.
    """

    def __init__(self, targets: Csr, weights: Array, pool: Pool) -> None:
        self._targets, self._weights, self._pool = targets, weights, pool
        self._blocks = solver_blocks(targets.indptr)

    def solve(self, other: Array, start: Array, tol: float, most: int) -> RowSolutions:
        """Solve to residuals of tol ‖right side‖, in place in `start` (V × K)."""
        V = self._targets.rows
        gains, steps = np.empty(V), np.empty(V, np.int32)
        at, kind = self._targets, other.dtype.type

        def run(rows: tuple[int, int]) -> None:
            row_solver_kernels.solve_rows(
                at.indptr, at.indices, at.data, self._weights, other, *rows, kind(tol), most,
                start, gains, steps,
            )  # fmt: skip

        for _ in self._pool.map(run, self._blocks):
            pass
        return RowSolutions(start, gains, int(steps.sum()), int(np.count_nonzero(steps == most)))


def _splits(sparse: Csr) -> Int64:
    """Return the first entry of each row in each tile, (tiles + 1 × V)."""
    edges, width = [0], _TILE_COLUMNS
    filled = sparse.nnz * width >= _FILLED * sparse.rows * sparse.columns
    while edges[-1] < sparse.columns:
        edges.append(min(edges[-1] + width, sparse.columns))
        width *= 1 if filled or len(edges) <= _NARROW_TILES else 2
    splits = np.empty((len(edges), sparse.rows), np.int64)
    kernels.split_rows(sparse.indptr, sparse.indices, np.array(edges), splits)
    return splits
