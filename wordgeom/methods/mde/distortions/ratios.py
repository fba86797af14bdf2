"""The ratios of distances and deviations."""

from __future__ import annotations

from typing import Any

from wordgeom.methods.mde.distortions.distortion import FAR, LEAST, Numbers

_MOST = 1e6  # a larger ratio counts as this


def ratios(d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers, Numbers]:
    """Return d/δ and δ/d (b), finite, and 1 where δ > 0, else 0 (b)."""
    d, deviations = xp.clip(d, LEAST, None), xp.clip(given, LEAST, FAR)
    above, below = xp.clip(d / deviations, None, _MOST), xp.clip(deviations / d, None, _MOST)
    return above, below, xp.where(given > 0.0, 0.0 * d + 1.0, 0.0)
