"""Spans of tall arrays by the eigenvectors of their Gram matrices, which are small."""

from __future__ import annotations

from typing import Any

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread

# Of the largest eigenvalue of a Gram matrix, by the bytes of its arrays' numbers: what is below it
# is rounding, and a direction of it is noise.
_SMALL = {4: 1e-6, 8: 1e-10}


def spectrum(tall: Tall, ops: Ops) -> tuple[Float64, Any]:
    """Return the eigenvalues (r) of tallᵀ tall that are no rounding, and vectors (k × r).

    Raises RankError where there is none.
    """
    values, Z = symmetric_eigh(ops.inner(tall, tall))
    kept = above_rounding(values, tall)
    if not kept.any():
        do = "lower --ridge or --dim, or raise --anchors"
        raise RankError("the vectors of a sweep are all 0", do=do)
    return values[kept], Z[:, kept]


def above_rounding(values: Float64, tall: Tall) -> Array:
    """Tell which squares of lengths, or products of two lengths, in `tall` are no rounding."""
    return values > _SMALL[tall.dtype.itemsize] * max(float(values.max()), 0.0)


def orthonormal(tall: Tall, ops: Ops) -> Tall:
    """Return an orthonormal basis (V × r) of the span of tall (V × k), by its Gram, twice."""
    for _ in range(2):
        values, Z = spectrum(tall, ops)
        tall = ops.combine(tall, Z / np.sqrt(values))
    return tall


def symmetric_eigh(matrix: Float64) -> tuple[Float64, Any]:
    """Return eigenvalues, ascending, and vectors of a matrix that is symmetric but for rounding."""
    with one_thread():  # the order of a threaded LAPACK's additions depends on their number
        return np.linalg.eigh((matrix + matrix.T) / 2.0)
