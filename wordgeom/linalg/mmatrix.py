"""Sparse systems A X = B of an M-matrix, with many right sides, by BiCGSTAB with ILU(0).

A = I − W, where W ≥ 0 has row sums of at most 1, and from each row a path leads to one with a sum
below 1. Then A⁻¹ ≥ 0, and the incomplete factors exist (Meijerink and van der Vorst 1977, Theorem
2.3). Groups of eight columns iterate independently on one thread each, so that threads neither wait
nor affect the result. A cycle of BiCGSTAB (van der Vorst 1992) that breaks down or stagnates is
followed by iterations of the factors alone, which always converge.

Not for matrices with negative weights, nor for dense ones.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.types import Csr, Float64, Int64
from wordgeom.linalg import mmatrix_kernels as kernels
from wordgeom.linalg.mmatrix_kernels import WIDTH

_GOAL, CONVERGED = 1e-12, 1e-10  # ‖r‖ / ‖b‖: the goal, and the accepted value
_CYCLES, _ITERATIONS, _SWEEPS = 3, 200, 20
_BROKEN = 1e-15  # smaller cosines are rounding


@dataclass(frozen=True)
class Factored:
    """A matrix (q × q) and its incomplete LU factors, which share its pattern.

    matrix: columns ascending, with the diagonal; diagonal (q): the index of its entries.
    """

    matrix: Csr
    diagonal: Int64
    factors: Float64

    @classmethod
    def of(cls, matrix: Csr) -> Factored:
        """Factorise a matrix that stores every diagonal entry."""
        rows = np.repeat(np.arange(matrix.rows), np.diff(matrix.indptr))
        diagonal = np.flatnonzero(matrix.indices == rows)
        factors = matrix.data.copy()
        kernels.factorise(matrix.indptr, diagonal, matrix.indices, factors)
        return cls(matrix, diagonal, factors)

    def multiply(self, right: Float64, other: Float64, out: Float64) -> Float64:
        """Set out = A right, all (q × 8); return other · out and out · out (2 × 8)."""
        sums = np.empty((2, WIDTH))
        matrix = self.matrix
        kernels.multiply(matrix.indptr, matrix.indices, matrix.data, right, other, out, sums)
        return sums

    def precondition(self, right: Float64, out: Float64) -> None:
        """Set out = (L U)⁻¹ right, both (q × 8)."""
        kernels.precondition(
            self.matrix.indptr, self.diagonal, self.matrix.indices, self.factors, right, out
        )


class Group:
    """Eight right sides (q × 8) and their solution.

    `steps` yields after each iteration; `solution` is then the best so far.
    """

    def __init__(self, factored: Factored, right: Float64, found: Float64) -> None:
        self._factored, self.solution, self.iterations = factored, found, 0
        self._work = [np.empty_like(right) for _ in range(5)]
        self._shadow, self._change = right - multiply(factored.matrix, found), np.empty_like(right)
        self._square = squared_norms(self._shadow)
        self._enough = _GOAL**2 * squared_norms(right)

    def steps(self) -> Iterator[int]:
        """Iterate until the goal is reached or no progress is made; yield the iteration number."""
        krylov = True  # BiCGSTAB, or else sweeps
        for _ in range(_CYCLES):
            if np.all(self._square <= self._enough):
                return
            before = self._square
            for _ in self._cycle() if krylov else self._sweep():
                self.iterations += 1
                yield self.iterations
            self._accept()
            gained = bool(np.all(self._square <= np.maximum(before / 4, self._enough)))
            if not gained and np.all(self._square <= (CONVERGED / _GOAL) ** 2 * self._enough):
                return
            krylov = gained or not krylov

    def _accept(self) -> None:
        """Add the change where it reduces the residual, which is computed afresh."""
        product = self._work[0]
        self._factored.multiply(self._change, self._shadow, product)
        np.subtract(self._shadow, product, out=product)
        square = squared_norms(product)
        better = square < self._square
        self.solution[:, better] += self._change[:, better]
        self._shadow[:, better] = product[:, better]
        self._square = np.where(better, square, self._square)

    def _cycle(self) -> Iterator[None]:
        """BiCGSTAB for the change, from 0; columns that converge or break down stay unchanged."""
        rest, direction, turned, product, second = self._work
        shadow, change, factored = self._shadow, self._change, self._factored
        np.copyto(rest, shadow)
        change[:], direction[:], product[:] = 0.0, 0.0, 0.0
        rho, square, sums = self._square, self._square, np.empty((2, WIDTH))
        beta, omega = np.zeros(WIDTH), np.zeros(WIDTH)
        active = square > self._enough
        for _ in range(_ITERATIONS):
            kernels.turn(rest, product, beta, omega, direction)
            factored.precondition(direction, turned)
            along, length = factored.multiply(turned, shadow, product)
            active = active & (np.abs(along) > _BROKEN * np.sqrt(self._square * length))
            alpha = _ratio(rho, along, active)
            kernels.move(alpha, turned, product, change, rest, shadow, sums)
            factored.precondition(rest, turned)
            along, length = factored.multiply(turned, rest, second)
            omega = _ratio(along, length, active & (length > 0))
            kernels.move(omega, turned, second, change, rest, shadow, sums)
            before, rho, square = rho, sums[0].copy(), sums[1].copy()
            yield None
            active = active & (square > self._enough) & (omega != 0)
            active &= np.abs(rho) > _BROKEN * np.sqrt(self._square * square)
            if not active.any():
                return
            beta = _ratio(rho, before, active) * _ratio(alpha, omega, active)

    def _sweep(self) -> Iterator[None]:
        """Iterate with the factors alone for the change: a regular splitting of an M-matrix."""
        rest, _, turned, product, _ = self._work
        np.copyto(rest, self._shadow)
        self._change[:] = 0.0
        one, sums = np.ones(WIDTH), np.empty((2, WIDTH))
        for _ in range(_SWEEPS):
            self._factored.precondition(rest, turned)
            self._factored.multiply(turned, rest, product)
            kernels.move(one, turned, product, self._change, rest, self._shadow, sums)
            yield None


def multiply(matrix: Csr, right: Float64) -> Float64:
    """Return matrix (q × m) times right (m × 8), on the calling thread."""
    out = np.empty((matrix.rows, WIDTH))
    sums = np.empty((2, WIDTH))
    kernels.multiply(matrix.indptr, matrix.indices, matrix.data, right, out, out, sums)
    return out


def squared_norms(tall: Float64) -> Float64:
    """Return the squared length of each column, (8) for (q × 8)."""
    return np.asarray(np.einsum("rc,rc->c", tall, tall))


def _ratio(above: Float64, below: Float64, active: NDArray[np.bool_]) -> Float64:
    return np.divide(above, below, out=np.zeros(WIDTH), where=active)
