"""The linear-algebra primitives of methods, implemented in NumPy with Numba and in Torch.

Small matrices (k × k) are NumPy arrays in float64. Tall matrices (V × k) grow with the vocabulary
and stay on the device, as NumPy arrays or Torch tensors; only these operations touch them, apart
from slices of columns, which are views. The NumPy operations return the same bytes at any number
of threads. Torch agrees to rounding, eigenvectors as far as their eigenvalues are separated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import DTypeLike, NDArray

from wordgeom.core.types import Array, Csr, Float64

Tall = Any  # (V × k), on the device


class Operator(Protocol):
    """A matrix (n × m) that is known only by its products."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    def multiply(self, tall: Tall) -> Tall:
        """Return the matrix times `tall` (m × k), a new (n × k) of the type of `tall`."""


@dataclass(frozen=True)
class RowSolutions:
    """The solutions (V × K) of weighted least squares.

    gains (V): Σ c_ij g_ij² minus the objective, by row; steps: conjugate-gradient steps of all
    rows together; missed: rows that did not reach the tolerance.
    """

    solution: Tall
    gains: Float64
    steps: int
    missed: int


class RowSolver(Protocol):
    """Solves (I + Σ c_ij o_j o_jᵀ) x_i = Σ c_ij g_ij o_j for every row i of one pattern."""

    def solve(self, other: Tall, start: Tall, tol: float, most: int) -> RowSolutions:
        """Solve to residuals of tol ‖right side‖, starting from and overwriting `start` (V × K)."""


@dataclass(frozen=True)
class SharedDiagonal:
    """The part of all rows' systems that is diagonal: a_i d + λ_i, and −a_i pull on the right.

    loads (V): a_i ≥ 0; columns (m): b_j; diagonal, pull (K); ridges (V): λ_i; shift: β, which every
    inner product has in addition. expect: bound the loss of counted pairs where it is lowest,
    log(C_ij / a_i b_j), instead of where x starts.
    """

    loads: Float64
    columns: Float64
    diagonal: Float64
    pull: Float64
    ridges: Float64
    shift: float
    expect: bool

    @property
    def lowest(self) -> float:
        """The smallest entry of any row's diagonal."""
        return float((self.loads * self.diagonal.min() + self.ridges).min(initial=np.inf))


@dataclass(frozen=True)
class LogisticSolutions:
    """The minimisers (V × K) of rows' bounds.

    losses (V): of the rows before; steps, missed: as in RowSolutions.
    """

    solution: Tall
    losses: Float64
    steps: int
    missed: int


class LogisticSolver(Protocol):
    """Minimises a bound of each row's logistic loss: linalg/logistic_rows.py."""

    def solve(
        self, other: Tall, start: Tall, shared: SharedDiagonal, tol: float, most: int
    ) -> LogisticSolutions:
        """Solve to residuals of tol ‖right side‖, starting from and overwriting `start` (V × K)."""


class Ops(Protocol):
    """The primitives on one device, `device` as Torch names it: cpu or cuda."""

    device: str

    def eigh_top(self, symmetric: Float64, k: int) -> tuple[Float64, Float64]:
        """Return the k algebraically largest eigenvalues, descending (k), and vectors (m × k).

        The entry of largest magnitude of each vector is positive.
        """

    def operator(self, sparse: Csr) -> Operator:
        """Return a sparse matrix as an operator."""

    def row_solver(self, targets: Csr, weights: Array) -> RowSolver:
        """Return a solver of the weighted least squares of all rows: linalg/row_solver.py.

        targets (V × m): g_ij on the pattern; weights (nnz): c_ij ≥ 0.
        """

    def logistic_solver(self, counts: Csr) -> LogisticSolver:
        """Return a solver of the logistic loss of all rows; counts (V × m) > 0 on the pattern."""

    def spmm(self, sparse: Csr, dense: NDArray[Any]) -> NDArray[Any]:
        """Return sparse (V × m) times dense (m × K), (V × K), in the dtype of the sparse data."""

    def tall(self, array: Array, dtype: DTypeLike) -> Tall:
        """Return a copy of an array (V × k) on the device, in `dtype`."""

    def empty(self, rows: int, columns: int, dtype: DTypeLike) -> Tall:
        """Return an uninitialised tall matrix (rows × columns)."""

    def to_numpy(self, tall: Tall) -> Array:
        """Return a tall matrix (V × k) as a C-contiguous NumPy array."""

    def inner(self, left: Tall, right: Tall) -> Float64:
        """Return leftᵀ right, (k × l), of two tall matrices."""

    def subtract(self, tall: Tall, basis: Tall, weights: Float64) -> None:
        """Subtract basis (V × k) times weights (k × l) from tall (V × l), in place."""

    def combine(self, basis: Tall, weights: Float64) -> Tall:
        """Return basis (V × k) times weights (k × l), (V × l), newly allocated."""

    def moments(self, tall: Tall, weights: Float64) -> tuple[Float64, Float64]:
        """Return Σ w_i t_i t_iᵀ (k × k) and Σ w_i t_i (k) of the rows of a tall matrix (V × k)."""

    def row_products(self, left: Tall, right: Sequence[Tall]) -> Float64:
        """Return left rightᵀ (a × b) of a few long rows: left (a × N), right: b rows (N)."""

    def row_sum(self, weights: Float64, rows: Tall) -> Tall:
        """Return weights (a) times a few long rows (a × N), (N), newly allocated."""

    def along(self, start: Tall, step: float, direction: Tall, out: Tall | None = None) -> Tall:
        """Return start + step · direction, of two arrays of one shape, in `out` or a new one."""

    def scale_rows(self, tall: Tall, factors: Float64) -> None:
        """Multiply the rows of a tall matrix (V × k) by factors (V), in place."""


def dot(ops: Ops, left: Tall, right: Tall) -> float:
    """Return the inner product of two arrays of one shape."""
    return float(ops.row_products(left.reshape(1, -1), [right.reshape(-1)])[0, 0])
