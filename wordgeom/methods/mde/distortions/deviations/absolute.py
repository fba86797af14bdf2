"""The absolute loss (4.5)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import Distortion, Numbers


@dataclass(frozen=True)
class Absolute(Distortion):
    """|δ − d|: robust MDS. Its derivative counts as 0 at d = δ."""

    name: ClassVar[str] = "absolute"

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        over = d - given
        return xp.abs(over), xp.sign(over)
