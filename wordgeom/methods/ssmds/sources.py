"""The data x_ij of the objective f, never as a V × V array: entries, Gram matrices, distances.

`Entries` are those of a sparse symmetric matrix, 0 where it has none. `Gram` has the inner products
Y Yᵀ of the rows of a sparse matrix. `Distances` are those between the rows of a Gram matrix, and
`Dissimilarities` entries of a matrix, in which a pair without entry has weight 0. Rows are made
dense a block at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from wordgeom.core.ops import Operator, Ops, Tall
from wordgeom.core.types import Array, Csr, Float64, Int64
from wordgeom.linalg.svd import transpose
from wordgeom.runtime.pool import Pool

_BLOCK = 1 << 21  # numbers of a dense block of rows: 16 MB
_MOST_ROWS = 256
_FILLED = 0.1  # share of entries from which a product with dense rows is faster


@dataclass(frozen=True)
class Product:
    """An operator given by its product."""

    shape: tuple[int, int]
    multiply: Callable[[Tall], Tall]


class InnerProducts(Protocol):
    """Inner products X (V × V)."""

    @property
    def diagonal(self) -> Float64:
        """The squared norms x_ii (V)."""

    def operator(self, ops: Ops) -> Operator:
        """Return X as an operator."""

    def squares(self, pool: Pool) -> float:
        """Return Σ x_ij² over i < j."""

    def at(self, left: Int64, right: Int64) -> Float64:
        """Return x_ij (m) of pairs of rows."""

    def dense(self, rows: Int64) -> Float64:
        """Return rows of X, (b × V)."""


class Entries:
    """The entries of a sparse symmetric matrix (V × V)."""

    def __init__(self, sparse: Csr) -> None:
        self._sparse = sparse

    @cached_property
    def _scipy(self) -> Any:
        return to_scipy(self._sparse)

    @cached_property
    def diagonal(self) -> Float64:
        """The diagonal (V)."""
        return np.asarray(self._scipy.diagonal(), np.float64)

    def operator(self, ops: Ops) -> Operator:
        """Return the matrix as an operator."""
        return ops.operator(self._sparse)

    def squares(self, pool: Pool) -> float:
        """Return Σ x_ij² over i < j."""
        data = self._sparse.data
        total = sum(
            float(np.sum(data[k : k + _BLOCK].astype(np.float64) ** 2))
            for k in range(0, len(data), _BLOCK)
        )
        return 0.5 * (total - float(np.sum(self.diagonal**2)))

    def at(self, left: Int64, right: Int64) -> Float64:
        """Return the entries (m) of pairs of rows."""
        return np.asarray(self._scipy[left, right], np.float64).ravel()

    def dense(self, rows: Int64) -> Float64:
        """Return rows (b × V)."""
        return np.asarray(self._scipy[rows].toarray(), np.float64)


class Gram:
    """The inner products Y Yᵀ of the rows of a sparse matrix Y (V × n)."""

    def __init__(self, sparse: Csr) -> None:
        self._sparse, self._turned = sparse, transpose(sparse)

    @cached_property
    def _scipy(self) -> tuple[Any, Any]:
        return to_scipy(self._sparse), to_scipy(self._turned)

    @cached_property
    def diagonal(self) -> Float64:
        """The squared norms of the rows (V)."""
        squares = self._sparse.data.astype(np.float64) ** 2
        rows = self._sparse.entry_rows
        return np.asarray(np.bincount(rows, squares, self._sparse.rows), np.float64)

    def operator(self, ops: Ops) -> Operator:
        """Return Y Yᵀ as an operator."""
        Y, Yt = ops.operator(self._sparse), ops.operator(self._turned)
        shape = (self._sparse.rows, self._sparse.rows)
        return Product(shape, lambda tall: Y.multiply(Yt.multiply(tall)))

    def squares(self, pool: Pool) -> float:
        """Return Σ x_ij² over i < j, by blocks of rows."""

        def block(rows: Int64) -> float:
            return float(np.sum(self.dense(rows) ** 2))

        total = sum(pool.map(block, blocks(self._sparse.rows)))
        return 0.5 * (total - float(np.sum(self.diagonal**2)))

    def at(self, left: Int64, right: Int64) -> Float64:
        """Return the inner products (m) of pairs of rows."""
        Y = self._scipy[0].astype(np.float64)
        return np.asarray(Y[left].multiply(Y[right]).sum(axis=1)).ravel()

    def dense(self, rows: Int64) -> Float64:
        """Return rows of Y Yᵀ (b × V)."""
        Y, Yt = self._scipy
        some = Y[rows].astype(np.float64)
        if self._sparse.nnz > _FILLED * self._sparse.rows * self._sparse.columns:
            return np.ascontiguousarray((Y @ some.toarray().T).T)  # eight times as fast
        return np.asarray((some @ Yt).toarray())


class Dissimilar(Protocol):
    """Dissimilarities of V words."""

    @property
    def size(self) -> int:
        """V."""

    @property
    def pattern(self) -> Any:
        """The pairs of weight 1, a symmetric sparse array of SciPy (V × V); None for all."""

    def at(self, left: Int64, right: Int64) -> Float64:
        """Return the dissimilarities (m) of pairs of rows, nan where there is none."""

    def dense(self, rows: Int64) -> tuple[Float64, Array]:
        """Return dissimilarities and weights, 0 or 1, (b × V) each; 0 for a row with itself."""

    def centred(self, ops: Ops) -> Operator:
        """Return −½ J X² J as an operator, the inner products of classical scaling."""


class Distances:
    """The Euclidean distances of points whose inner products are given."""

    pattern = None

    def __init__(self, products: InnerProducts) -> None:
        self._products = products

    @property
    def size(self) -> int:
        """V."""
        return len(self._products.diagonal)

    def at(self, left: Int64, right: Int64) -> Float64:
        """Return the distances (m) of pairs of rows."""
        squares = self._products.diagonal
        products = self._products.at(left, right)
        return np.sqrt(np.maximum(squares[left] + squares[right] - 2.0 * products, 0.0))

    def dense(self, rows: Int64) -> tuple[Float64, Array]:
        """Return distances (b × V), and weights."""
        squares = self._products.diagonal
        found = -2.0 * self._products.dense(rows)
        found += squares[rows, None] + squares
        np.sqrt(np.maximum(found, 0.0, out=found), out=found)
        weights = np.ones(found.shape)
        found[np.arange(len(rows)), rows] = weights[np.arange(len(rows)), rows] = 0.0
        return found, weights

    def centred(self, ops: Ops) -> Operator:
        """Return J G J."""
        return _double_centred(self._products.operator(ops), 1.0)


class Dissimilarities:
    """The entries of a sparse symmetric matrix, off its diagonal; nothing is known of others."""

    def __init__(self, sparse: Csr) -> None:
        inside = sparse.entry_rows != sparse.indices
        lengths = np.bincount(sparse.entry_rows[inside], minlength=sparse.rows)
        indptr = np.concatenate(([0], np.cumsum(lengths)))
        self._sparse = Csr(indptr, sparse.indices[inside], sparse.data[inside], sparse.columns)

    @property
    def size(self) -> int:
        """V."""
        return self._sparse.rows

    @cached_property
    def _scipy(self) -> Any:
        return to_scipy(self._sparse)

    @cached_property
    def pattern(self) -> Any:
        """The pairs that have an entry, None where all have."""
        V, stored = self.size, self._scipy
        if stored.nnz == V * (V - 1):
            return None
        ones = (np.ones(stored.nnz), stored.indices, stored.indptr)
        return type(stored)(ones, shape=stored.shape)

    def at(self, left: Int64, right: Int64) -> Float64:
        """Return the dissimilarities (m), nan where there is none."""
        found = np.asarray(self._scipy[left, right], np.float64).ravel()
        known = np.ones(len(left), bool)
        if self.pattern is not None:
            known = np.asarray(self.pattern[left, right]).ravel() > 0.0
        return np.where(known, found, np.nan)

    def dense(self, rows: Int64) -> tuple[Float64, Array]:
        """Return dissimilarities and weights (b × V)."""
        found = np.asarray(self._scipy[rows].toarray(), np.float64)
        if self.pattern is not None:
            return found, np.asarray(self.pattern[rows].toarray())
        weights = np.ones(found.shape)
        weights[np.arange(len(rows)), rows] = 0.0
        return found, weights

    def centred(self, ops: Ops) -> Operator:
        """Return −½ J X² J, with 0 for a pair without entry."""
        squares = self._sparse.data.astype(np.float64) ** 2
        squared = Csr(self._sparse.indptr, self._sparse.indices, squares, self.size)
        return _double_centred(ops.operator(squared), -0.5)


def blocks(size: int) -> list[Int64]:
    """Return the rows of each block of a dense (V × V) array that is computed at once."""
    rows = max(1, min(_MOST_ROWS, _BLOCK // size))
    return [np.arange(k, min(k + rows, size)) for k in range(0, size, rows)]


def to_scipy(sparse: Csr) -> Any:
    """Return a sparse matrix as SciPy's, with its columns as they are where they fit."""
    import scipy.sparse

    # SciPy uses one dtype for both: with an int64 indptr it would copy the columns to int64.
    dtype = np.int32 if sparse.nnz <= np.iinfo(np.int32).max else np.int64
    parts = (sparse.data, sparse.indices, sparse.indptr.astype(dtype))
    return scipy.sparse.csr_array(parts, shape=(sparse.rows, sparse.columns))


def _double_centred(operator: Operator, factor: float) -> Operator:
    """Return factor · J A J, with J = I − 11ᵀ/V."""

    def multiply(tall: Tall) -> Tall:
        image = factor * operator.multiply(tall - tall.mean(0))
        return image - image.mean(0)

    return Product(operator.shape, multiply)
