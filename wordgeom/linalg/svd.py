"""Truncated singular value decomposition of a sparse matrix, by eigenpairs of XᵀX or XXᵀ.

The smaller of the two is never formed: a product with it is one with X and one with Xᵀ. With
λ = σ² and u = Xv/σ, ‖Xᵀu − σv‖ = ‖XᵀXv − λv‖/σ, so that the tolerance of the eigensolver is that
of the decomposition. Singular values below the square root of rounding are lost: 3e-4 σ₁ in
float32, used down to a tolerance of 1e-4, and 1e-8 σ₁ in float64, used for small matrices at any
tolerance. Not for condition numbers.

A few orthonormal columns G, such as the mean direction, may be projected out: X − GGᵀX, which is
dense and not formed either. Rounding is then relative to the larger of σ₁ and ‖GᵀX‖.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.ops import Operator, Ops, Tall
from wordgeom.core.types import Array, Checkpoint, Csr, Float64
from wordgeom.linalg.eigensolver import (
    Convergence,
    EigenSettings,
    residual_norms,
    ritz_pairs,
    within_tolerance,
)
from wordgeom.linalg.krylov import BLOCK
from wordgeom.linalg.probe import Probes
from wordgeom.linalg.signs import fix_signs

_LINE = 100  # bytes per row or column of a matrix and its transpose, besides the entries


@dataclass(frozen=True)
class Svd:
    """X ≈ left · diag(values) · rightᵀ.

    left (n × k); values (k) descending; right (m × k); residuals (k) as measured: ‖Xᵀu − σv‖, or
    ‖Xv − σu‖ for a wide X (the other is 0 by construction); converged (k); products: columns
    multiplied. The entry of largest magnitude of each column of `right` is positive. A value that
    is rounding is 0, and so is its column of the side that was computed from the other.
    """

    left: Array
    values: Float64
    right: Array
    residuals: Float64
    converged: Array
    products: int
    probes: Probes


@dataclass(frozen=True)
class _Product:
    """An operator given by its product."""

    shape: tuple[int, int]
    multiply: Callable[[Tall], Tall]


class _Effects:
    """Orthonormal columns G (n × c) to project out."""

    def __init__(self, columns: Float64, dtype: np.dtype[Any], ops: Ops) -> None:
        self._columns, self._dtype, self._ops = ops.tall(columns, dtype), dtype, ops

    def length(self, transposed: Operator) -> float:
        """Return ‖GᵀX‖, given Xᵀ (m × n)."""
        product = transposed.multiply(self._columns)
        return float(np.sqrt(np.trace(self._ops.inner(product, product))))

    def project_out(self, tall: Tall) -> Tall:
        """Set `tall` (n × k) to (I − GGᵀ) `tall` and return it."""
        self._ops.subtract(tall, self._columns, self._ops.inner(self._columns, tall))
        return tall

    def projected(self, tall: Tall) -> Tall:
        """Return (I − GGᵀ) `tall` (n × k), newly allocated."""
        copy = self._ops.empty(tall.shape[0], tall.shape[1], self._dtype)
        copy[:] = tall
        return self.project_out(copy)

    def removed(self, X: Operator, Xt: Operator) -> tuple[Operator, Operator]:
        """Return (I − GGᵀ)X and its transpose, for operators X (n × m) and Xᵀ."""
        return (
            _Product(X.shape, lambda tall: self.project_out(X.multiply(tall))),
            _Product(Xt.shape, lambda tall: Xt.multiply(self.projected(tall))),
        )


def truncated_svd(
    sparse: Csr,
    wanted: EigenSettings,
    ops: Ops,
    *,
    effects: Float64 | None = None,
    follow: Callable[[Iterator[Convergence]], Iterator[Convergence]] | None = None,
    checkpoint: Checkpoint | None = None,
) -> Svd:
    """Return the largest singular triplets of a sparse matrix X (n × m), at most min(n, m).

    wanted: settings of the eigensolver, whose tol bounds residual / σ; effects: orthonormal columns
    G (n × c) to project out: X − GGᵀX is decomposed instead of X, and `left` is orthogonal to G.
    """
    wide = sparse.rows < sparse.columns
    dtype = wanted.dtype_of(min(sparse.rows, sparse.columns))
    held = None if effects is None else _Effects(effects, dtype, ops)
    X, Xt = ops.operator(sparse), ops.operator(transpose(sparse))
    rounding = 0.0 if held is None else held.length(Xt) ** 2
    if held is not None:
        X, Xt = held.removed(X, Xt)
    inner, outer = (Xt, X) if wide else (X, Xt)
    size = inner.shape[1]
    gram = _Product((size, size), lambda tall: outer.multiply(inner.multiply(tall)))
    pairs = ritz_pairs(gram, wanted, ops, follow=follow, checkpoint=checkpoint)
    image = inner.multiply(pairs.vectors)
    residuals = residual_norms(outer.multiply(image), pairs, ops)
    largest = max(float(pairs.values.max(initial=0.0)), rounding)
    values, inverse = _roots(pairs.values, np.finfo(dtype).eps * largest)
    other = ops.combine(image, np.diag(inverse))
    left, right = (pairs.vectors, other) if wide else (other, pairs.vectors)
    if held is not None:  # the division by σ has amplified rounding
        held.project_out(left)
    sides = _with_signs(ops.to_numpy(left), ops.to_numpy(right))
    converged = within_tolerance(pairs.values, residuals, wanted)
    products = pairs.products + len(values)
    residuals *= inverse
    return Svd(sides[0], values, sides[1], residuals, converged, products, pairs.probes)


def svd_bytes(rows: int, columns: int, entries: int, wanted: EigenSettings) -> int:
    """Return the memory of `truncated_svd` in bytes, besides its matrix in float32."""
    small, large = min(rows, columns), max(rows, columns)
    width = wanted.dtype_of(small).itemsize
    transposed = 8 * entries + _LINE * (rows + columns)
    growing = wanted.bytes(small) + 4 * BLOCK * width * large
    sides = min(wanted.pairs, small) * width * (3 * large + 4 * small)
    return transposed + max(growing, sides)


def _roots(values: Float64, rounding: float) -> tuple[Float64, Float64]:
    """Return √λ and 1/√λ, (k) each, both 0 where λ is rounding."""
    roots = np.sqrt(np.where(values > rounding, values, 0.0))
    return roots, np.divide(1.0, roots, out=np.zeros(len(roots)), where=roots > 0.0)


def _with_signs(left: Array, right: Array) -> tuple[Array, Array]:
    """Return both sides with the sign convention of `fix_signs` for the right one."""
    signs = np.where(np.sum(fix_signs(right) * right, axis=0) < 0.0, -1.0, 1.0)
    return left * signs.astype(left.dtype), right * signs.astype(right.dtype)


def transpose(sparse: Csr) -> Csr:
    """Return the transpose of a sparse matrix (n × m)."""
    import scipy.sparse

    # SciPy uses one dtype for both: with an int64 indptr it would copy the columns to int64.
    dtype = np.int32 if sparse.nnz <= np.iinfo(np.int32).max else np.int64
    parts = (sparse.data, sparse.indices, sparse.indptr.astype(dtype))
    rows = scipy.sparse.csr_array(parts, shape=(sparse.rows, sparse.columns)).T.tocsr()
    indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int32, copy=False)
    return Csr(indptr, indices, rows.data, sparse.rows)
