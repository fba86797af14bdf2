"""Truncated singular value decomposition of a sparse matrix, by eigenpairs of XᵀX or XXᵀ.

The smaller of the two is never formed: a product with it is a product with X and one with Xᵀ. With
λ = σ² and u = Xv/σ, ‖Xᵀu − σv‖ = ‖XᵀXv − λv‖/σ, so that the eigensolver's tolerance is the
decomposition's. Singular values below the square root of rounding are lost that way: 3e-4 σ₁ in
float32, which serves down to a tolerance of 1e-4, 1e-8 σ₁ in float64, in which small matrices are
solved at any tolerance. Not for condition numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.linalg.eigs import Look, Wanted, largest_eigenpairs
from wordgeom.linalg.ops import Operator, Ops, Tall, fix_signs
from wordgeom.types import Array, Checkpoint, Csr, Float64


@dataclass(frozen=True)
class Svd:
    """X ≈ left · diag(values) · rightᵀ.

    left (n × k), values (k) descending, right (m × k); residuals (k) as measured, ‖Xᵀu − σv‖, or
    ‖Xv − σu‖ of a wide X (the other is 0 by construction), with converged (k). Of each column of
    `right` the entry of largest magnitude is positive. A value that is rounding is 0, and so is
    its column on the side that was computed from the other.
    """

    left: Array
    values: Float64
    right: Array
    residuals: Float64
    converged: Array
    products: int


class _Gram:
    """AᵀA (m × m) of an operator A (n × m), by its products."""

    def __init__(self, matrix: Operator, transposed: Operator) -> None:
        self._matrix, self._transposed = matrix, transposed
        self.shape = (matrix.shape[1], matrix.shape[1])

    def multiply(self, tall: Tall) -> Tall:
        return self._transposed.multiply(self._matrix.multiply(tall))


def truncated_svd(
    sparse: Csr,
    wanted: Wanted,
    ops: Ops,
    *,
    follow: Callable[[Iterator[Look]], Iterator[Look]] | None = None,
    checkpoint: Checkpoint | None = None,
) -> Svd:
    """Return the largest singular triplets of a sparse matrix (n × m), at most min(n, m) of them.

    wanted: as of the eigensolver; tol bounds the residuals' ratio to σ.
    """
    X, Xt = ops.operator(sparse), ops.operator(transpose(sparse))
    wide = sparse.rows < sparse.columns
    inner, outer = (Xt, X) if wide else (X, Xt)
    pairs = largest_eigenpairs(
        _Gram(inner, outer), wanted, ops, follow=follow, checkpoint=checkpoint
    )
    rounding = np.finfo(pairs.vectors.dtype).eps * max(float(pairs.values.max(initial=0.0)), 0.0)
    there = pairs.values > rounding
    values = np.where(there, np.sqrt(np.maximum(pairs.values, 0.0)), 0.0)
    inverse = np.where(there, 1.0 / np.where(there, values, 1.0), 0.0)
    other = ops.to_numpy(inner.multiply(ops.tall(pairs.vectors, pairs.vectors.dtype))) * inverse
    left, right = (pairs.vectors, other) if wide else (other, pairs.vectors)
    signs = np.where(np.sum(fix_signs(right) * right, axis=0) < 0.0, -1.0, 1.0)
    return Svd(
        left * signs, values, right * signs, pairs.residuals * inverse, pairs.converged,
        pairs.products,
    )  # fmt: skip


def transpose(sparse: Csr) -> Csr:
    """Return the transpose of a sparse matrix (n × m), columns ascending in its rows."""
    import scipy.sparse

    shape = (sparse.rows, sparse.columns)
    turned = scipy.sparse.csr_array((sparse.data, sparse.indices, sparse.indptr), shape=shape).T
    rows = scipy.sparse.csr_array(turned)
    indptr, indices = rows.indptr.astype(np.int64), rows.indices.astype(np.int32)
    return Csr(indptr, indices, rows.data, sparse.rows)
