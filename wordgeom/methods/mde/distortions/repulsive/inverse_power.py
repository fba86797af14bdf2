"""The inverse power penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import NEAR, Distortion, Numbers, power


@dataclass(frozen=True)
class InversePower(Distortion):
    """|w| / d^α; without --constraint standardized a few vectors may end far away."""

    name: ClassVar[str] = "inverse-power"
    barrier: ClassVar[bool] = True
    least: ClassVar[float] = NEAR
    exponent: float = 1.0  # PyMDE's default

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        d = xp.clip(d, NEAR, None)
        f = given * power(d, -self.exponent, xp)
        return f, -self.exponent * f / d
