"""First-order changes of the cosines of pairs where their words move.

For unit vectors u and a pair t = (i, j) with cosine c = u_i·u_j, moving the words by Δ_i and Δ_j
changes the cosine by a_t·Δ_i + b_t·Δ_j with a_t = u_j − c u_i and b_t = u_i − c u_j.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.transforms.fit.scored_pairs import ScoredPairs


def tangents(units: Float64, pairs: ScoredPairs) -> tuple[Float64, Float64]:
    """Return the gradients (m × K) of the cosines in the left and in the right word."""
    u, v = units[pairs.left], units[pairs.right]
    c = pairs.cosines(units)[:, None]
    return v - c * u, u - c * v


def displacement_covariance(units: Float64, pairs: ScoredPairs, power: int) -> Float64:
    """Return the covariances (m × m) of the changes of cosines under the prior of Δ.

    The coordinates of Δ are independent, with covariance (u_i·u_k)^power between two words.
    """
    A, B = tangents(units, pairs)
    K = (units @ units.T) ** power
    i, j = pairs.left, pairs.right
    mixed = K[np.ix_(i, j)] * (A @ B.T)
    same = K[np.ix_(i, i)] * (A @ A.T) + K[np.ix_(j, j)] * (B @ B.T)
    return np.asarray(same + mixed + mixed.T)
