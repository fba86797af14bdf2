"""Majorising steps: Carrington (2021), §4.4.3, with the signs that docs/methods/ssmds.md derives.

Distances (`StressStep`): by the Cauchy–Schwarz inequality L is at most a quadratic with the matrix
Ỹ = λ L_W + (1 − λ) L_W̃, of the Laplacians of both weights, which has the slope of L at the current
B. Its minimum Ỹ⁺H̃(B)B is B − ½ Ỹ⁺∇L. Conjugate gradients from B lower it with each iteration.

Inner products (`InnerStep`): the weights γ = λw + (1 − λ)w̃ are at most M = 1, that of a pair of D.
L is at most ½ ‖R − CCᵀ‖² plus a constant, for R = BBᵀ + λ W∘(X − BBᵀ) + (1 − λ) W̃∘(Δ̂ − BBᵀ). The
best C are its largest eigenpairs, negative eigenvalues clipped. R is a sparse matrix plus one of
rank K. Larger problems take the best C in the span of B and RB, which contains B, so that L does
not increase either.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wordgeom.core.ops import Ops
from wordgeom.core.types import Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.eigensolver import EigenSettings, largest_eigenpairs
from wordgeom.linalg.gram import symmetric_eigh
from wordgeom.methods.ssmds.objective import InnerFit, Objective, StressFit
from wordgeom.methods.ssmds.sources import Product
from wordgeom.methods.ssmds.terms import Order
from wordgeom.optim.conjugate_gradients import solve

Majorise = Callable[[Float64, Float64], Float64]
_TOL, _MOST = 1e-10, 200  # of the conjugate gradients


class StressStep:
    """The step for distances."""

    def __init__(self, objective: Objective, fit: StressFit) -> None:
        self._supervised, self._weight = objective.supervised, objective.weight
        self._size, self._pattern = fit.source.size, fit.source.pattern
        V, pairs = self._size, self._supervised.pairs
        self._degrees = np.full(V, float(V))  # of V I, which acts as L_W on centred columns
        if self._pattern is not None:
            self._degrees = np.asarray(self._pattern.sum(axis=1), np.float64).ravel()
        self._diagonal = self._weight * self._degrees
        linked = np.bincount(np.append(pairs.left, pairs.right), minlength=len(pairs.words))
        self._diagonal[pairs.words] += (1.0 - self._weight) * linked

    def __call__(self, vectors: Float64, gradient: Float64) -> Float64:
        """Return the vectors (V × K) after a step, centred, for the gradient of L (V × K)."""
        right = -0.5 * gradient
        moved = vectors + solve(self._multiply, self._diagonal, right, tol=_TOL, most=_MOST)
        return np.asarray(moved - moved.mean(0))

    def _multiply(self, tall: Float64) -> Float64:
        """Return Ỹ times an array (V × k)."""
        out = self._degrees[:, None] * tall
        if self._pattern is not None:
            out -= self._pattern @ tall
        out *= self._weight
        pairs, ones = self._supervised.pairs, np.ones(len(self._supervised.pairs.scores))
        linked = self._supervised.times(-ones, (ones, ones), tall[pairs.words])
        out[pairs.words] += (1.0 - self._weight) * linked
        return out


class InnerStep:
    """The step for inner products; exact: by all eigenpairs of R, the default for small ones."""

    def __init__(
        self, objective: Objective, fit: InnerFit, ops: Ops, exact: bool | None = None
    ) -> None:
        self._supervised, self._weight = objective.supervised, objective.weight
        self._fit, self._ops, self._exact = fit, ops, exact

    def __call__(self, vectors: Float64, gradient: Float64) -> Float64:
        """Return the vectors (V × K) after a step, for the gradient of L (V × K)."""
        V, K = vectors.shape
        multiply = self._model(vectors)
        exact = EigenSettings(K).dense(V) if self._exact is None else self._exact
        if exact:
            pairs = largest_eigenpairs(Product((V, V), multiply), EigenSettings(K), self._ops)
            return np.asarray(pairs.vectors * np.sqrt(np.maximum(pairs.values, 0.0)))
        with one_thread():  # RB = B(BᵀB) − ∇L/2 is in the span of B and ∇L
            basis = np.linalg.qr(np.hstack((vectors, gradient)))[0]
        small = self._ops.inner(basis, multiply(basis))
        values, axes = symmetric_eigh(small)
        top = slice(None, -K - 1, -1)
        return np.asarray(
            self._ops.combine(basis, axes[:, top] * np.sqrt(np.maximum(values[top], 0.0)))
        )

    def _model(self, vectors: Float64) -> Callable[[Float64], Float64]:
        """Return the function that multiplies R by an array (V × k)."""
        supervised, weight, ops = self._supervised, self._weight, self._ops
        term, measured = supervised.term, supervised.measured(vectors)
        assert isinstance(term, Order)
        errors = (1.0 - weight) * (term.fitted(measured.values) - measured.values)
        none = np.zeros(len(errors))
        own = np.einsum("ij,ij->i", vectors, vectors) - self._fit.source.diagonal
        words = supervised.pairs.words

        def multiply(tall: Float64) -> Float64:
            out = weight * self._fit.operator(tall)
            ops.subtract(out, vectors, -(1.0 - weight) * ops.inner(vectors, tall))
            out += weight * own[:, None] * tall
            out[words] += supervised.times(errors, (none, none), tall[words])
            return out

        return multiply
