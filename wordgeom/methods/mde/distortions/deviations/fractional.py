"""The fractional loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import LEAST, Distortion, Numbers
from wordgeom.methods.mde.distortions.ratios import ratios


@dataclass(frozen=True)
class Fractional(Distortion):
    """max{δ/d, d/δ} − 1; its derivative counts as 0 at d = δ, and all of it as 0 for δ = 0."""

    name: ClassVar[str] = "fractional"
    barrier: ClassVar[bool] = True
    divides: ClassVar[bool] = True

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        above, below, inside = ratios(d, given, xp)
        f = xp.maximum(above, below) - 1.0
        slope = xp.where(above > below, above, -below) / xp.clip(d, LEAST, None)
        return inside * f, inside * xp.where(above == below, 0.0, slope)
