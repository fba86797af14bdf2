"""The logarithmic penalty (4.4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import NEAR, Distortion, Numbers, power

_SMALLEST, _LARGEST = 1e-18, 80.0  # of d^α: 1 − exp(−80) is 1


@dataclass(frozen=True)
class Log(Distortion):
    """−|w| log(1 − exp(−d^α)); the default α is the book's and PyMDE's."""

    name: ClassVar[str] = "log"
    barrier: ClassVar[bool] = True
    least: ClassVar[float] = NEAR
    exponent: float = 1.0

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        d = xp.clip(d, NEAR, None)
        raised = xp.clip(power(d, self.exponent, xp), _SMALLEST, _LARGEST)
        grown = xp.expm1(raised)  # 1 − exp(−d^α) = grown / (1 + grown)
        f = given * xp.log1p(1.0 / grown)
        return f, -(self.exponent * given) * (raised / grown) / d
