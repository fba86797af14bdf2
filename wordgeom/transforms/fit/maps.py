"""Two families of linear maps: upper triangular matrices, and I + U Vᵀ of low rank.

Both minimise −ρ(C) + μ tr (C − I) S (C − I)ᵀ by L-BFGS (SciPy). A map is x ↦ C x. With S from all
unit vectors x of the space, the penalty is K times their mean squared displacement ‖Cx − x‖²: a map
may change directions that other words do not use. It is ‖C − I‖² for an isotropic space.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.signs import fix_signs
from wordgeom.transforms.fit.correlation import Judged, correlation
from wordgeom.transforms.fit.family import Family

_STEPS = 200  # of L-BFGS, at most
_START = 0.1  # length of the columns of U and V at the start, where U = V = 0 is a saddle point


class _Descended(Family):
    """A family that is fitted by L-BFGS, by parameters that are 0 for the identity."""

    penalties: ClassVar[Sequence[float]] = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)
    repeats: ClassVar[int] = 1  # a fit of a triangular map takes seconds

    @abstractmethod
    def pulled(self, parameters: Float64, gradient: Float64) -> Float64:
        """Return the gradient in the parameters of a function with this gradient in C."""

    def fit(self, judged: Judged, penalty: float, start: Float64) -> Float64:
        """Return the parameters of the smallest −ρ(C) + penalty · displacement, from `start`."""
        from scipy.optimize import minimize

        identity = np.eye(judged.rows.shape[1])

        def loss(parameters: Float64) -> tuple[float, Float64]:
            C = self.matrix(parameters)
            rho, gradient = correlation(judged, C)
            moved = (C - identity) @ judged.spread
            value = penalty * float(np.sum(moved * (C - identity))) - rho
            return value, self.pulled(parameters, 2.0 * penalty * moved - gradient)

        with one_thread():  # also SciPy's own BLAS, which is loaded only here
            made = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": _STEPS})
        return np.asarray(made.x)


@dataclass(frozen=True)
class Triangular(_Descended):
    """Upper triangular R (K × K); parameters: the upper triangle of R − I, row by row."""

    K: int

    def start(self, judged: Judged) -> Float64:
        """Return 0, which is R = I."""
        return np.zeros(self.K * (self.K + 1) // 2)

    def matrix(self, parameters: Float64) -> Float64:
        """Return R."""
        R = np.eye(self.K)
        R[np.triu_indices(self.K)] += parameters
        return R

    def pulled(self, parameters: Float64, gradient: Float64) -> Float64:
        """Return the upper triangle of the gradient."""
        return np.asarray(gradient[np.triu_indices(self.K)])


@dataclass(frozen=True)
class LowRank(_Descended):
    """I + U Vᵀ with U, V (K × r); parameters: U, then V."""

    K: int
    rank: int

    def start(self, judged: Judged) -> Float64:
        """Return the leading directions of the gradient at I, short."""
        _, gradient = correlation(judged, np.eye(self.K))
        U, _, Vt = np.linalg.svd(gradient)
        # One sign for both sides leaves U Vᵀ as it is.
        both = fix_signs(np.concatenate((U[:, : self.rank], Vt[: self.rank].T)))
        return _START * both.ravel()

    def matrix(self, parameters: Float64) -> Float64:
        """Return I + U Vᵀ."""
        U, V = parameters.reshape(2, self.K, self.rank)
        return np.asarray(np.eye(self.K) + U @ V.T)

    def pulled(self, parameters: Float64, gradient: Float64) -> Float64:
        """Return the gradient in U, then in V."""
        U, V = parameters.reshape(2, self.K, self.rank)
        return np.concatenate((gradient @ V, gradient.T @ U)).ravel()
