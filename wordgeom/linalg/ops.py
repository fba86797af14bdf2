"""The primitives that methods are made of; each in NumPy and Numba, and in Torch.

Small matrices (k × k) are NumPy arrays in float64. Tall ones (V × k), which grow with the
vocabulary, stay on the device and are handled through these operations alone: a NumPy array or a
Torch tensor, of which slices of columns are views. NumPy's operations give the same bytes at any
number of threads; Torch's agree with them to rounding, eigenvectors as far as eigenvalues lie
apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wordgeom.core.types import Array, Csr, Float64

if TYPE_CHECKING:
    from wordgeom.linalg.row_solver import RowSolver

Tall = Any  # (V × k), on the device


class Operator(Protocol):
    """A matrix (n × m) known by its products."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def multiply(self, tall: Tall) -> Tall:
        """Return the matrix times `tall` (m × k), a new (n × k) of the type of `tall`."""


class Ops(Protocol):
    """Linear algebra on one device."""

    def eigh_top(self, symmetric: Float64, k: int) -> tuple[Float64, Float64]:
        """Return the k algebraically largest eigenvalues, descending (k), and vectors (m × k).

        Of each vector the entry of largest magnitude is positive.
        """

    def operator(self, sparse: Csr) -> Operator:
        """Return a sparse matrix to be multiplied by."""

    def row_solver(self, targets: Csr, weights: Array) -> RowSolver:
        """Return what solves weighted least squares of all rows: linalg/rows.py.

        targets (V × m): g_ij on the pattern; weights (nnz): c_ij ≥ 0.
        """

    def spmm(self, sparse: Csr, dense: NDArray[Any]) -> NDArray[Any]:
        """Return sparse (V × m) times dense (m × K), (V × K), in the type of the sparse data."""

    def tall(self, array: Array, dtype: DTypeLike) -> Tall:
        """Return an array (V × k) on the device, in `dtype`; never a view of `array`."""

    def empty(self, rows: int, columns: int, dtype: DTypeLike) -> Tall:
        """Return room for (rows × columns)."""

    def to_numpy(self, tall: Tall) -> Array:
        """Return an array (V × k) in NumPy, C-order."""

    def inner(self, left: Tall, right: Tall) -> Float64:
        """Return leftᵀ right, (k × l), of two tall arrays."""

    def subtract(self, tall: Tall, basis: Tall, weights: Float64) -> None:
        """Take basis (V × k) times weights (k × l) away from tall (V × l), in place."""

    def combine(self, basis: Tall, weights: Float64) -> Tall:
        """Return basis (V × k) times weights (k × l), a new (V × l)."""


def fix_signs(vectors: Float64) -> Float64:
    """Return vectors (m × k) turned so that each one's entry of largest magnitude is positive."""
    if not vectors.size:
        return vectors
    peaks = np.abs(vectors).argmax(axis=0)
    signs = np.sign(vectors[peaks, np.arange(vectors.shape[1])])
    return vectors * np.where(signs == 0.0, 1.0, signs)
