"""Entities that are identical but for rounding, as after scaling rows to unit length."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64

_ROUNDING = 1e-14  # distances below this share of a point's length are 0


def identical_limits(points: Float64) -> Float64:
    """Return the squared distance (n) up to which another point is identical to each point."""
    return np.asarray(_ROUNDING**2 * np.einsum("ij,ij->i", points, points))
