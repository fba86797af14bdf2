"""Quadratic problems, Σ w_ij d_ij²: the start of others, and a problem of their own (chapter 3).

Standardised, the optimum is √n times the eigenvectors of the smallest eigenvalues of the graph's
Laplacian after the constant one. Forty steps come near it: of LOBPCG (Knyazev 2001), scaled by the
degrees, or for many columns of L-BFGS, whose steps cost less there. With anchors the optimum is
harmonic: the solution of one linear system.
"""

from __future__ import annotations

import warnings
from types import ModuleType
from typing import Any

import numpy as np

from wordgeom.core.types import Array, Csr, Float32, Float64, Int64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.numpy_ops import NumpyOps
from wordgeom.linalg.signs import fix_signs
from wordgeom.methods.mde.edges import around
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.methods.mde.problem import Problem, Term
from wordgeom.optim.conjugate_gradients import solve
from wordgeom.optim.constraints import Standardized
from wordgeom.optim.lbfgs import Lbfgs
from wordgeom.runtime.pool import Pool

DENSE = 1500  # items up to which all eigenpairs are computed at once
FEW = 16  # columns up to which LOBPCG costs less than L-BFGS for what it reaches
_STEPS, _MEMORY = 40, 10
_TOL, _MOST = 1e-4, 500  # of exact solutions: residuals relative to the mean degree; iterations
_HARMONIC_TOL, _HARMONIC_MOST = 1e-3, 200


class Squared:
    """f = w d²."""

    def at(self, distances: Any, given: Any, xp: ModuleType) -> tuple[Any, Any]:
        """Return w d² and 2 w."""
        return given * distances * distances, 2.0 * given


def standardized(
    pairs: Pairs, items: int, columns: int, pool: Pool, seed: int, *, exact: bool = False
) -> Array:
    """Return X (n × m) with 1ᵀX = 0, XᵀX/n = I and a small Σ w_ij d_ij²; float32, C-order.

    exact: the least Σ, to a residual of 1e-4, instead of one that is near. Columns are by ascending
    Σ, and the entry of largest magnitude of each is positive. Raises RankError for m > n − 1.
    """
    laplacian = _Laplacian(pairs, items, pool)
    start = np.random.default_rng(seed).standard_normal((items, columns), np.float32)
    if items <= DENSE:
        vectors = _dense(laplacian, columns)
    elif columns > FEW and not exact:
        vectors = _descended(pairs, laplacian, start, pool)
    else:
        limits = (_TOL, _MOST) if exact else (0.0, _STEPS)
        vectors = _eigenvectors(laplacian, start, *limits)
    scaled = fix_signs(vectors) * np.sqrt(items)
    return np.ascontiguousarray(Standardized(items, NumpyOps(pool)).onto(scaled.astype(np.float32)))


def harmonic(pairs: Pairs, items: int, rows: Int64, values: Array, pool: Pool) -> Float64:
    """Return X (n × m) with the least Σ w_ij d_ij² whose `rows` (a) are `values` (a × m).

    Each other item is the weighted mean of its neighbours. Items that no path joins to a row are 0.
    """
    laplacian = _Laplacian(pairs, items, pool)
    free = np.ones((items, 1))
    free[rows] = 0.0
    fixed = np.zeros((items, values.shape[1]))
    fixed[rows] = values
    right = -free * laplacian(fixed)
    diagonal = free[:, 0] * laplacian.degrees
    moved = solve(lambda x: free * laplacian(free * x), diagonal, right,
                  tol=_HARMONIC_TOL, most=_HARMONIC_MOST)  # fmt: skip
    return fixed + moved


class _Laplacian:
    """The Laplacian of a weighted graph, D − W, as an operator on tall arrays (n × k)."""

    def __init__(self, pairs: Pairs, items: int, pool: Pool) -> None:
        rows, numbers = around([pairs], items)
        weights = Csr(rows.indptr, rows.others, pairs.given[numbers].astype(np.float64), items)
        self._weights = NumpyOps(pool).operator(weights)
        self.degrees: Float64 = self._weights.multiply(np.ones((items, 1)))[:, 0]

    def __call__(self, tall: Float64) -> Float64:
        """Return (D − W) times an array."""
        image: Float64 = self._weights.multiply(tall)
        return self.degrees[:, None] * tall - image


def _dense(laplacian: _Laplacian, columns: int) -> Float64:
    """Return the eigenvectors (n × m) of the smallest eigenvalues after the constant one."""
    items = len(laplacian.degrees)
    full = laplacian(np.eye(items))
    # The constant vector moves to the other end of the spectrum: components have more at 0.
    full += 2.0 * max(float(laplacian.degrees.max()), 1.0) / items
    with one_thread():
        vectors: Float64 = np.linalg.eigh(full)[1][:, :columns]
    return vectors


def _descended(pairs: Pairs, laplacian: _Laplacian, start: Float32, pool: Pool) -> Float64:
    """Return orthonormal centred columns (n × m) near the optimum, by ascending Σ, by L-BFGS."""
    items, ops = len(start), NumpyOps(pool)
    descent = Lbfgs(Problem(items, [Term(pairs, Squared())], pool), ops, most=_STEPS,
                    constraint=Standardized(items, ops))  # fmt: skip
    state = descent.start(start, _MEMORY)
    for _ in descent.iterations(state):
        pass
    vectors = state.x.astype(np.float64) / np.sqrt(items)
    with one_thread():
        turn = np.linalg.eigh(ops.inner(vectors, laplacian(vectors)))[1]
    return np.asarray(ops.combine(vectors, turn))


def _eigenvectors(laplacian: _Laplacian, start: Float32, tol: float, most: int) -> Float64:
    """Return orthonormal centred columns (n × m) near the optimum, by ascending Σ, by LOBPCG."""
    from scipy.sparse.linalg import LinearOperator, lobpcg

    items, mean = len(start), float(laplacian.degrees.mean())
    degrees = np.maximum(laplacian.degrees, mean)[:, None]
    shape = {"shape": (items, items), "dtype": np.float64}
    operator = LinearOperator(matvec=laplacian, matmat=laplacian, **shape)
    inverse = LinearOperator(matvec=lambda x: x / degrees, matmat=lambda x: x / degrees, **shape)
    with one_thread(), warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # fewer digits than `tol` are enough
        values, vectors = lobpcg(
            operator, start.astype(np.float64), M=inverse, Y=np.ones((items, 1)), largest=False,
            tol=tol * mean, maxiter=most,
        )  # fmt: skip
    return np.asarray(vectors[:, np.argsort(values, kind="stable")])
