"""Maps that weight the singular directions of a space: C = I + Z (W − I) Zᵀ, W diagonal.

The weights are exp(θ_k / 2). θ minimises the squared error of the regression of the scores on the
cosines and their first-order changes, plus μ β₁² ‖θ‖², for the slope β₁ of the cosines. With K
parameters, and one regression instead of a descent, it is the family with the least to overfit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.transforms.fit.axis_weights import axis_weights
from wordgeom.transforms.fit.correlation import Judged
from wordgeom.transforms.fit.family import Family
from wordgeom.transforms.fit.scored_pairs import unit


@dataclass(frozen=True, eq=False)
class Diagonal(Family):
    """Weights of directions (r × K), orthonormal; parameters: W − 1 (r)."""

    directions: Float64
    penalties: ClassVar[Sequence[float]] = (10.0, 5.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)
    repeats: ClassVar[int] = 3

    def start(self, judged: Judged) -> Float64:
        """Return 0, which is C = I."""
        return np.zeros(len(self.directions))

    def matrix(self, parameters: Float64) -> Float64:
        """Return C."""
        Z = self.directions
        return np.asarray(np.eye(Z.shape[1]) + Z.T @ (parameters[:, None] * Z))

    def fit(self, judged: Judged, penalty: float, start: Float64) -> Float64:
        """Return the exact solution, from any start."""
        units = unit(judged.rows @ self.directions.T)
        prior = np.eye(len(self.directions)) / penalty
        return axis_weights(units, judged.pairs, prior) - 1.0
