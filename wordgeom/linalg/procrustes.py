"""Orthogonal Procrustes: the rotation that brings one set of points closest to another.

With weights w ≥ 0, R minimises Σ w_i ‖(x_i − x̄) R − (y_i − ȳ)‖² over orthogonal matrices, where x̄
and ȳ are weighted means, or 0 without centring. R = U Vᵀ for the singular value decomposition
U Σ Vᵀ of Σ w_i (x_i − x̄)ᵀ (y_i − ȳ) (Schönemann 1966). Without reflections, the direction of the
smallest singular value is flipped where det R would be −1 (Kabsch 1978). R is unique where all
singular values are positive (without reflections: all but the smallest, if it is simple).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread


@dataclass(frozen=True, eq=False)
class Alignment:
    """The map x ↦ (x − x̄) R + ȳ: rotation R (K × K); source_mean x̄, target_mean ȳ (K).

    singular (K): singular values of the weighted product of both sides, descending.
    """

    rotation: Float64
    source_mean: Float64
    target_mean: Float64
    singular: Float64

    def rank(self, rounding: float = 1e-12) -> int:
        """Return how many directions of the rotation the points determine."""
        return int(np.count_nonzero(self.singular > rounding * self.singular[0]))

    def apply(self, points: Array) -> Float64:
        """Return the images of points (n × K), float64."""
        with one_thread():
            return np.asarray((points - self.source_mean) @ self.rotation + self.target_mean)


def align(
    source: Array,
    target: Array,
    *,
    weights: Array | None = None,
    centre: bool = False,
    reflect: bool = True,
) -> Alignment:
    """Return the alignment of `source` to `target`, both (n × K), finite and in the same order.

    weights (n): 1 by default, and not all 0; centre: move the means onto each other; reflect: allow
    reflections. Computed in float64.
    """
    X, Y = source.astype(np.float64), target.astype(np.float64)
    w = np.ones(len(X)) if weights is None else weights.astype(np.float64)
    means = [np.zeros(X.shape[1]) for _ in range(2)]
    with one_thread():  # threaded sums have another order
        if centre:
            means = [w @ points / w.sum() for points in (X, Y)]
        product = ((X - means[0]) * w[:, None]).T @ (Y - means[1])
    R, singular = rotation(product, reflect=reflect)
    return Alignment(R, means[0], means[1], singular)


def rotation(product: Float64, *, reflect: bool = True) -> tuple[Float64, Float64]:
    """Return R (K × K) and the singular values (K) of the product XᵀY (K × K) of both sides."""
    with one_thread():
        U, singular, Vt = np.linalg.svd(product)
        if not reflect and np.linalg.det(U @ Vt) < 0.0:
            U[:, -1] = -U[:, -1]
        return np.asarray(U @ Vt), singular
