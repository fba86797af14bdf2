"""Orthonormal bases of tall matrices, by the eigenvectors of their small Gram matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.signs import fix_signs

# Relative to the largest eigenvalue of a Gram matrix, by itemsize: smaller ones are rounding.
_SMALL = {4: 1e-6, 8: 1e-10}


def spectrum(tall: Tall, ops: Ops) -> tuple[Float64, Any]:
    """Return the eigenvalues (r) of tallᵀ tall above rounding, and their vectors (k × r).

    Raises RankError where there is none.
    """
    values, Z = symmetric_eigh(ops.inner(tall, tall))
    nonzero = above_rounding(values, tall)
    if not nonzero.any():
        do = "lower --ridge or --dim, or raise --anchors"
        raise RankError("the vectors of a sweep are all 0", do=do)
    return values[nonzero], Z[:, nonzero]


def above_rounding(values: Float64, tall: Tall) -> Array:
    """Return which squared lengths, or products of two lengths, in `tall` are above rounding."""
    return values > _SMALL[tall.dtype.itemsize] * max(float(values.max()), 0.0)


def orthonormal(tall: Tall, ops: Ops) -> Tall:
    """Return an orthonormal basis (V × r) of tall (V × k), by its Gram matrix, in two passes."""
    for _ in range(2):
        values, Z = spectrum(tall, ops)
        tall = ops.combine(tall, Z / np.sqrt(values))
    return tall


def principal_axes(tall: Tall, ops: Ops) -> tuple[Tall, int]:
    """Return tall (V × k) on its principal axes, and its rank r; columns from r on are 0."""
    values, Z = spectrum(tall, ops)  # ascending
    axes = fix_signs(Z[:, ::-1])
    unused = ((0, 0), (0, tall.shape[1] - len(values)))
    return ops.combine(tall, np.pad(axes, unused)), len(values)


def symmetric_eigh(matrix: Float64) -> tuple[Float64, Any]:
    """Return eigenvalues, ascending, and eigenvectors of a matrix, symmetrised for rounding."""
    with one_thread():  # a threaded LAPACK adds in an order that depends on the threads
        return np.linalg.eigh((matrix + matrix.T) / 2.0)
