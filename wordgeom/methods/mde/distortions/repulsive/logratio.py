"""The barrier of LargeVis and UMAP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import NEAR, Distortion, Numbers, power


@dataclass(frozen=True)
class LogRatio(Distortion):
    """−|w| log(d^α / (1 + d^α)); the default α is PyMDE's."""

    name: ClassVar[str] = "logratio"
    barrier: ClassVar[bool] = True
    least: ClassVar[float] = NEAR
    exponent: float = 2.0

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        d = xp.clip(d, NEAR, None)
        inverse = power(d, -self.exponent, xp)
        derivative = -(self.exponent * given) * (inverse / (1.0 + inverse)) / d
        return given * xp.log1p(inverse), derivative
