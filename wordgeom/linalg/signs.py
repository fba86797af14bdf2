"""The sign convention of singular vectors and eigenvectors."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64


def fix_signs(vectors: Float64) -> Float64:
    """Return vectors (m × k) with the entry of largest magnitude of each column made positive."""
    if not vectors.size:
        return vectors
    peaks = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[peaks, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0.0, 1.0, signs)
