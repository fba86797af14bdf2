"""The soft fractional loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import LEAST, Distortion, Numbers
from wordgeom.methods.mde.distortions.ratios import ratios


@dataclass(frozen=True)
class SoftFractional(Distortion):
    """log((e^{γδ/d} + e^{γd/δ}) / 2e^γ) / γ, of sharpness γ; 0 for δ = 0."""

    name: ClassVar[str] = "soft-fractional"
    barrier: ClassVar[bool] = True
    divides: ClassVar[bool] = True
    sharpness: float = 10.0  # PyMDE's default

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        above, below, inside = ratios(d, given, xp)
        small = xp.exp(-self.sharpness * xp.abs(above - below))
        most = xp.maximum(above, below)
        f = most - 1.0 + (xp.log1p(small) - math.log(2.0)) / self.sharpness
        one, other = 1.0 / (1.0 + small), small / (1.0 + small)  # softmax weights
        rising = xp.where(above > below, one, other) * above
        falling = xp.where(above > below, other, one) * below
        return inside * f, inside * (rising - falling) / xp.clip(d, LEAST, None)
