"""The Huber penalty (4.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from wordgeom.methods.mde.distortions.distortion import Distortion, Numbers


@dataclass(frozen=True)
class Huber(Distortion):
    """w d² below the threshold τ, w τ(2d − τ) above; PyMDE's is half of it, with the same τ."""

    name: ClassVar[str] = "huber"
    threshold: float = 0.5

    def values(self, d: Numbers, given: Numbers, xp: Any) -> tuple[Numbers, Numbers]:
        """Return f and f′ (b each)."""
        near = xp.clip(d, None, self.threshold)
        return given * near * (2.0 * d - near), 2.0 * given * near
