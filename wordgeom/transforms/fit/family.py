"""What all families of linear maps have: parameters, and a fit to pairs with a penalty."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from wordgeom.core.types import Float64
from wordgeom.transforms.fit.correlation import Judged


class Family(ABC):
    """A family of maps x ↦ C x.

    penalties: to choose from, from the largest on; usual: the one for too few pairs to choose;
    repeats: of the folds that choose.
    """

    penalties: ClassVar[Sequence[float]]
    usual: ClassVar[float] = 1.0
    repeats: ClassVar[int]

    @abstractmethod
    def start(self, judged: Judged) -> Float64:
        """Return parameters from which to start."""

    @abstractmethod
    def matrix(self, parameters: Float64) -> Float64:
        """Return C (K × K)."""

    @abstractmethod
    def fit(self, judged: Judged, penalty: float, start: Float64) -> Float64:
        """Return the parameters that fit the pairs best, under a penalty."""
