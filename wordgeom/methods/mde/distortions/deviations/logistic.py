"""The logistic loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import Distortion, Numbers


@dataclass(frozen=True)
class LogisticLoss(Distortion):
    """log((1 + e^|δ − d|) / 2), which has a kink at d = δ; its derivative counts as 0 there."""

    name: ClassVar[str] = "logistic"

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        over = d - given
        small = xp.exp(-xp.abs(over))
        f = xp.abs(over) + xp.log1p(small) - math.log(2.0)
        return f, xp.sign(over) / (1.0 + small)
