"""The quadratic loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import Distortion, Numbers


@dataclass(frozen=True)
class Quadratic(Distortion):
    """(δ − d)²: the stress of metric MDS."""

    name: ClassVar[str] = "quadratic"

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        over = d - given
        return over * over, 2.0 * over
