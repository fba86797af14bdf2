"""The primitives that methods are made of; each in NumPy and Numba, and in Torch.

Small matrices (k × k) are NumPy arrays in float64. Tall ones (V × k), which grow with the
vocabulary, stay on the device and are handled through these operations alone: a NumPy array or a
Torch tensor, of which slices of columns are views. NumPy's operations give the same bytes at any
number of threads; Torch's agree with them to rounding, eigenvectors as far as eigenvalues lie
apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import DTypeLike, NDArray

from wordgeom.core.types import Array, Csr, Float64

Tall = Any  # (V × k), on the device


class Operator(Protocol):
    """A matrix (n × m) known by its products."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def multiply(self, tall: Tall) -> Tall:
        """Return the matrix times `tall` (m × k), a new (n × k) of the type of `tall`."""


@dataclass(frozen=True)
class RowSolutions:
    """The solutions (V × K); gains (V): how far below Σ c_ij g_ij² each row's objective is.

    steps: of conjugate gradients, of all rows together; missed: rows that missed the tolerance.
    """

    solution: Tall
    gains: Float64
    steps: int
    missed: int


class RowSolver(Protocol):
    """Solves (I + Σ c_ij o_j o_jᵀ) x_i = Σ c_ij g_ij o_j for all rows of one pattern."""

    def solve(self, other: Tall, start: Tall, tol: float, most: int) -> RowSolutions:
        """Solve to residuals of tol ‖right side‖, from `start` (V × K), which is overwritten."""


class Ops(Protocol):
    """Linear algebra on one device."""

    def eigh_top(self, symmetric: Float64, k: int) -> tuple[Float64, Float64]:
        """Return the k algebraically largest eigenvalues, descending (k), and vectors (m × k).

        Of each vector the entry of largest magnitude is positive.
        """

    def operator(self, sparse: Csr) -> Operator:
        """Return a sparse matrix to be multiplied by."""

    def row_solver(self, targets: Csr, weights: Array) -> RowSolver:
        """Return what solves weighted least squares of all rows: linalg/row_solver.py.

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
