"""Virtual inputs: points between one without similar others and its nearest neighbour (§2.2).

Without them, S says of such a point only that it is far from all others. Consecutive points of the
arc differ by less than arccos τ.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.linalg.nearest_neighbours import nearest_to
from wordgeom.methods.tsm.similarities import lengths
from wordgeom.runtime.pool import Pool

_MARGIN = 1e-5  # of an angle: cosines near τ are decided in float32


def virtual_inputs(points: Float64, alone: Int64, threshold: float, pool: Pool) -> Float64:
    """Return points on the arcs from the rows `alone` of points (n × K ≥ 2) to their nearest."""
    if not len(alone):
        return points[:0]
    norms = lengths(points)
    units = points / norms[:, None]
    nearest, _ = nearest_to(units, alone, np.arange(len(points)), pool)
    arcs = [
        arc(units[i], units[j], float(norms[i]), float(norms[j]), threshold)
        for i, j in zip(alone, nearest, strict=True)
    ]
    return np.concatenate(arcs)


def arc(one: Float64, other: Float64, length: float, end: float, threshold: float) -> Float64:
    """Return the fewest points (m × K) between two directions that make every step small enough.

    one, other (K): unit vectors; length, end: of the two points; the m + 1 steps are equal angles
    below arccos τ, and lengths change linearly.
    """
    across = _across(one, other)
    angle = float(np.arctan2(other @ across, other @ one))
    number = int(angle / np.arccos(threshold) * (1.0 + _MARGIN))
    shares = np.arange(1, number + 1)[:, None] / (number + 1)
    directions = np.cos(shares * angle) * one + np.sin(shares * angle) * across
    return np.asarray(directions * (length + shares * (end - length)))


def _across(one: Float64, other: Float64) -> Float64:
    """Return the unit vector (K) orthogonal to `one` in the plane of both, any if they oppose."""
    rest = other - (other @ one) * one
    if np.linalg.norm(rest) < 1e-7:
        rest = np.zeros(len(one))
        rest[np.abs(one).argmin()] = 1.0
    rest -= (rest @ one) * one
    return np.asarray(rest / np.linalg.norm(rest))
