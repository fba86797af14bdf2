"""Norms of vectors, summed in float64, and unit vectors."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float32, Float64

_ROWS = 1 << 14  # of a block


def row_norms(matrix: Float32) -> Float64:
    """Return the norms (n) of the rows of a matrix (n × d)."""
    norms = np.empty(len(matrix))
    for at in range(0, len(matrix), _ROWS):
        wide = matrix[at : at + _ROWS].astype(np.float64)
        norms[at : at + _ROWS] = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return norms


def with_norms(matrix: Float32, norms: Float64) -> Float32:
    """Return rows (n × d) scaled to these norms (n), float32; zero rows stay zero."""
    own = row_norms(matrix)
    factors = np.divide(norms, own, out=np.zeros(len(own)), where=own > 0)
    made = np.empty(matrix.shape, np.float32)
    for at in range(0, len(matrix), _ROWS):
        made[at : at + _ROWS] = matrix[at : at + _ROWS] * factors[at : at + _ROWS, None]
    return made
