"""The logistic penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import Distortion, Numbers


@dataclass(frozen=True)
class Logistic(Distortion):
    """w log(1 + e^{α(d − τ)}), of sharpness α and threshold τ; the defaults are PyMDE's."""

    name: ClassVar[str] = "logistic"
    threshold: float = 0.0
    sharpness: float = 3.0

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        z = self.sharpness * (d - self.threshold)
        small = xp.exp(-xp.abs(z))  # at most 1
        f = xp.clip(z, 0.0, None) + xp.log1p(small)
        rising = xp.where(z > 0.0, 1.0, small) / (1.0 + small)
        return given * f, (self.sharpness * given) * rising
