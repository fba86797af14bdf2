"""The log-one-plus penalty (4.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import LEAST, Distortion, Numbers, power


@dataclass(frozen=True)
class Log1p(Distortion):
    """w log(1 + d^α): near 0 a power, far a logarithm. The default α is the book's and PyMDE's."""

    name: ClassVar[str] = "log1p"
    exponent: float = 1.5

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        raised = power(d, self.exponent, xp)
        share = raised / (1.0 + raised)
        derivative = (self.exponent * given) * share / xp.clip(d, LEAST, None)
        return given * xp.log1p(raised), derivative
