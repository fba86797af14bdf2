"""The Huber loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import Distortion, Numbers


@dataclass(frozen=True)
class HuberLoss(Distortion):
    """(δ − d)² where |δ − d| is at most the threshold τ, τ(2|δ − d| − τ) elsewhere."""

    name: ClassVar[str] = "huber"
    threshold: float = 1.0  # that of figure 4.4; PyMDE has no default

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        over = d - given
        near = xp.clip(over, -self.threshold, self.threshold)
        return near * (2.0 * over - near), 2.0 * near
