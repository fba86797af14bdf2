"""How far the bound of the expected pairs lies above their logistic loss, by sampling.

The expected counts N_ij = a_i b_j have rank one. Pairs are drawn in proportion to them, so that

    Σ_all N_ij (q − s)(v_i·u_j + β) = Σ a Σ b · mean of (q − s)(v_i·u_j + β),

where q ≥ s is the quadratic of linalg/logistic_rows.py. The loss of the observed pairs is exact.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.linalg.logistic_rows import Expected

_PAIRS, _BLOCK = 1 << 20, 1 << 15  # pairs drawn, and how many at a time
_SEED = 1


@dataclass(frozen=True)
class Gap:
    """An estimate of the gap, and its standard error."""

    value: float
    error: float


def bound_gap(expected: Expected, v: Array, u: Array) -> Gap:
    """Return the gap for word vectors v (V × K) and context vectors u (m × K).

    The expected counts are not all zero.
    """
    rng = np.random.default_rng(_SEED)
    gaps = np.empty(_PAIRS)
    for start in range(0, _PAIRS, _BLOCK):
        rows, columns = (_drawn(side, rng) for side in (expected.rows, expected.columns))
        dots = np.einsum("nk,nk->n", v[rows], u[columns], dtype=np.float64)
        exact = np.logaddexp(0.0, dots + expected.shift)
        gaps[start : start + _BLOCK] = expected.bound(dots) - exact
    total = float(expected.rows.sum()) * float(expected.columns.sum())
    return Gap(total * float(gaps.mean()), total * float(gaps.std()) / _PAIRS**0.5)


def _drawn(weights: Float64, rng: np.random.Generator) -> Int64:
    """Return indices drawn in proportion to weights."""
    upper = np.cumsum(weights)
    return np.asarray(np.searchsorted(upper, rng.random(_BLOCK) * upper[-1], side="right"))
