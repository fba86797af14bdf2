"""Singular values raised to a power: U Σ becomes U Σ^x (Carrington 2021, Table 3.3)."""

from __future__ import annotations

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Float64
from wordgeom.transforms.fit.correlation import Judged
from wordgeom.transforms.space import Space, Step

_GRID = np.arange(-100, 301) / 100  # powers that are tried; Table 3.3 has −0.7 to 0.9 and 2.5


def power(space: Space, singular: Float64, exponent: float) -> Step:
    """Return U Σ^x of U Σ; singular (r): the values Σ, beyond which columns stay zero."""
    scale = np.zeros((2, space.columns))
    scale[:, : len(singular)] = singular ** (exponent - 1.0), singular**exponent
    facts = {"power": exponent, "spectrum_of": "singular values", "spectrum": scale[1].tolist()}
    return Step(space.mapped(np.diag(scale[0])), facts)


def best_power(judged: Judged, singular: Float64) -> tuple[float, dict[str, float]]:
    """Return the power with the highest Spearman correlation on pairs, and its statistics.

    The one nearest to 1 counts where several are equal. judged: pairs in the canonical form.
    Raises InputError where no power has a correlation.
    """
    from wordgeom.evaluation.similarity import spearman

    cosines = _cosines(judged, singular)
    found = np.array([spearman(z, judged.scores) for z in cosines])
    if np.isnan(found).all():
        raise InputError("--power best: the cosines of all pairs are equal", do="pass more pairs")
    order = np.argsort(np.abs(_GRID - 1.0), kind="stable")
    best = order[np.nanargmax(found[order])]
    before = float(found[np.flatnonzero(_GRID == 1.0)[0]])
    return float(_GRID[best]), {"pairs": len(judged.scores), "before": before,
                                "after": float(found[best])}  # fmt: skip


def _cosines(judged: Judged, singular: Float64) -> Float64:
    """Return the cosines (powers × pairs) of U Σ^x."""
    r = len(singular)
    left, right = judged.rows[judged.left, :r], judged.rows[judged.right, :r]
    # Relative to the largest value: powers of these neither overflow nor change a cosine.
    weights = (singular / singular[0])[:, None] ** (2.0 * _GRID - 2.0)
    products = (left * right) @ weights
    squares = ((left**2) @ weights) * ((right**2) @ weights)
    return np.asarray((products / np.sqrt(squares)).T)
