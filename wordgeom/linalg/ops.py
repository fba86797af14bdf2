"""The primitives that methods are made of; each in NumPy and Numba, and in Torch.

Arguments and results are NumPy arrays. NumPy's give the same bytes at any number of threads;
Torch's agree with them to rounding, eigenvectors as far as eigenvalues lie apart.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wordgeom.types import Csr, Float64


class Ops(Protocol):
    """Linear algebra on one device."""

    def eigh_top(self, symmetric: Float64, k: int) -> tuple[Float64, Float64]:
        """Return the k algebraically largest eigenvalues, descending (k), and vectors (m × k).

        Of each vector the entry of largest magnitude is positive.
        """

    def spmm(self, sparse: Csr, dense: NDArray[Any]) -> NDArray[Any]:
        """Return sparse (V × m) times dense (m × K), (V × K), in the type of the sparse data."""


def fix_signs(vectors: Float64) -> Float64:
    """Return vectors (m × k) turned so that each one's entry of largest magnitude is positive."""
    if not vectors.size:
        return vectors
    peaks = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[peaks, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0.0, 1.0, signs)
