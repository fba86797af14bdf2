"""What a measure returns, and how it becomes p."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64

_TIE = 1e-6  # of a distance: rounding


@dataclass(frozen=True, eq=False)
class Measured:
    """The change of w words.

    distances, p (w): p is NaN without a test; then, now (w × k): unit vectors whose neighbours are
    listed; method, assumption: sentences; permutations: 0 without a test.
    """

    distances: Float64
    then: Array
    now: Array
    method: str
    p: Float64
    assumption: str = ""
    permutations: int = 0


def untested(distances: Float64, then: Array, now: Array, method: str) -> Measured:
    """Return the result of a measure without p."""
    return Measured(distances, then, now, method, np.full(len(distances), np.nan))


def cosine_distances(then: Array, now: Array) -> Float64:
    """Return 1 − cos (w) of unit vectors (w × K); 1 where one is zero."""
    return np.asarray(1.0 - np.einsum("ij,ij->i", then, now))


def reached(permuted: Array, observed: Array) -> Array:
    """Return where a permuted distance is as large as the observed one, up to rounding."""
    return np.asarray(permuted >= observed - _TIE)
