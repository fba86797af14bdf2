"""The objectives of Table 4.1: L(B) = λ f(X, B) + (1 − λ) g(D, B), with sums over i < j.

`InnerFit`: f = Σ (x_ij − b_iᵀb_j)², computed as ½ (‖X‖² − 2 tr BᵀXB + ‖BᵀB‖² − Σ (x_ii − ‖b_i‖²)²)
without a V × V array. `StressFit`: f = Σ w_ij (x_ij − ‖b_i − b_j‖)², in blocks of rows.

λ weighs either these sums, as in the thesis, or each relative to its value for zero vectors. L is
the former in both cases: a relative λ is converted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import fsum
from typing import Protocol

import numpy as np

from wordgeom.core.ops import Ops
from wordgeom.core.types import Float64, Int64
from wordgeom.linalg.blas import one_thread
from wordgeom.methods.ssmds.sources import Dissimilar, InnerProducts, blocks
from wordgeom.methods.ssmds.terms import Supervised
from wordgeom.runtime.pool import Pool

# Squared distances below this fraction of the squared norms are rounding errors of 0.
_ROUNDING = 64.0 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Slope:
    """L and its terms f and g at some vectors, and the gradient of L (V × K)."""

    value: float
    data: float
    pairs: float
    gradient: Float64


class Data(Protocol):
    """Where x_ij are looked up."""

    def at(self, left: Int64, right: Int64) -> Float64:
        """Return x_ij (m) of pairs of rows, nan where there is none."""


class Fit(Protocol):
    """The term f."""

    @property
    def source(self) -> Data:
        """The data X."""

    @property
    def largest(self) -> float:
        """Its value for zero vectors."""

    def slope(self, vectors: Float64) -> tuple[float, Float64]:
        """Return f and its gradient (V × K)."""

    def partial(self, vectors: Float64, rows: Int64) -> Float64:
        """Return an unbiased estimate of the gradient (V × K) from the pairs of random rows."""


class InnerFit:
    """The term of inner products; ops: on the device of the products with X."""

    def __init__(self, source: InnerProducts, ops: Ops, cpu: Ops, pool: Pool) -> None:
        self.source, self._ops, self._cpu, self._pool = source, ops, cpu, pool

    @cached_property
    def operator(self) -> Callable[[Float64], Float64]:
        """Returns X times an array (V × k)."""
        operator = self.source.operator(self._ops)

        def multiply(tall: Float64) -> Float64:
            image = operator.multiply(self._ops.tall(tall, np.float64))
            return np.asarray(self._ops.to_numpy(image))

        return multiply

    @cached_property
    def largest(self) -> float:
        """Its value for zero vectors."""
        return self.source.squares(self._pool)

    def slope(self, vectors: Float64) -> tuple[float, Float64]:
        """Return f and its gradient (V × K): −2 (XB − B(BᵀB) − (x_ii − ‖b_i‖²) b_i)."""
        image = self.operator(vectors)
        gram = self._cpu.inner(vectors, vectors)
        own = self.source.diagonal - np.einsum("ij,ij->i", vectors, vectors)
        crossed = float(np.einsum("ij,ij->i", vectors, image).sum())
        off = 0.5 * (float(np.sum(gram**2)) - float(np.sum(own**2))) - crossed
        value = self.largest + 0.5 * float(np.sum(self.source.diagonal**2)) + off
        self._cpu.subtract(image, vectors, gram)
        image -= own[:, None] * vectors
        image *= -2.0
        return value, image

    def partial(self, vectors: Float64, rows: Int64) -> Float64:
        """Return an unbiased estimate of the gradient (V × K) from the pairs of random rows."""
        errors = self.source.dense(rows).T - self._cpu.combine(vectors, vectors[rows].T)
        errors[rows, np.arange(len(rows))] = 0.0
        scale = -2.0 * len(vectors) / len(rows)
        return np.asarray(self._cpu.combine(np.ascontiguousarray(errors), scale * vectors[rows]))


class StressFit:
    """The term of distances, over all pairs or those of a pattern."""

    def __init__(self, source: Dissimilar, pool: Pool) -> None:
        self.source, self._pool = source, pool

    @cached_property
    def largest(self) -> float:
        """Its value for zero vectors."""

        def block(rows: Int64) -> float:
            found, weights = self.source.dense(rows)
            return float(np.einsum("ij,ij,ij->", weights, found, found))

        return 0.5 * fsum(self._pool.map(block, blocks(self.source.size)))

    def slope(self, vectors: Float64) -> tuple[float, Float64]:
        """Return f and its gradient (V × K): 2 Σ_j w_ij (1 − x_ij / d_ij)(b_i − b_j)."""
        centred = vectors - vectors.mean(0)
        gradient = np.empty(vectors.shape)

        def block(rows: Int64) -> float:
            value, pulls = self._pulls(centred, rows)
            gradient[rows] = pulls.sum(1)[:, None] * centred[rows] - pulls @ centred
            return value

        with one_thread():
            value = 0.5 * fsum(self._pool.map(block, blocks(self.source.size)))
        return value, 2.0 * gradient

    def partial(self, vectors: Float64, rows: Int64) -> Float64:
        """Return an unbiased estimate of the gradient (V × K) from the pairs of random rows."""
        with one_thread():
            pulls = self._pulls(vectors, rows)[1].T
            change = pulls.sum(1)[:, None] * vectors - pulls @ vectors[rows]
        return np.asarray(2.0 * len(vectors) / len(rows) * change)

    def _pulls(self, vectors: Float64, rows: Int64) -> tuple[float, Float64]:
        """Return Σ w (x − d)² over rows, and w (1 − x/d), 0 where d is 0, (b × V)."""
        found, weights = self.source.dense(rows)
        norms = np.einsum("ij,ij->i", vectors, vectors)
        most = norms[rows, None] + norms
        squares = most - 2.0 * (vectors[rows] @ vectors.T)
        squares[squares <= _ROUNDING * most] = 0.0
        apart = np.sqrt(squares)
        errors = found - apart
        value = float(np.einsum("ij,ij,ij->", weights, errors, errors))
        pulls = np.divide(-errors, apart, out=np.zeros(errors.shape), where=apart > 0.0)
        pulls *= weights
        return value, pulls


@dataclass(frozen=True)
class Objective:
    """L; weight: λ as it weighs the plain sums."""

    fit: Fit
    supervised: Supervised
    weight: float

    def slope(self, vectors: Float64) -> Slope:
        """Return L, its terms and its gradient at vectors (V × K)."""
        data, gradient = self.fit.slope(vectors)
        gradient *= self.weight
        return self._with_pairs(data, gradient, vectors)

    def partial(self, vectors: Float64, rows: Int64) -> Float64:
        """Return an unbiased estimate of the gradient (V × K): all pairs of D, some rows of X."""
        gradient = self.weight * self.fit.partial(vectors, rows)
        return self._with_pairs(0.0, gradient, vectors).gradient

    def _with_pairs(self, data: float, gradient: Float64, vectors: Float64) -> Slope:
        value, slope = self.supervised.slope(vectors)
        gradient[self.supervised.pairs.words] += (1.0 - self.weight) * slope
        total = self.weight * data + (1.0 - self.weight) * value
        return Slope(total, data, value, gradient)


def plain_weight(weight: float, data: float, pairs: float) -> float:
    """Return the λ of plain sums, for a λ of sums relative to `data` and `pairs`."""
    one, other = weight / data, (1.0 - weight) / pairs
    return one / (one + other)
