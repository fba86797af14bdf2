"""How far apart two outputs are: the same bytes, equal to 1e-5, or different."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from wordgeom.core.types import Array

TOLERANCE = 1e-5  # of the largest absolute value of an array


class Answer(IntEnum):
    """How an output compares with the recorded one; larger is worse."""

    IDENTICAL = 0
    EQUAL = 1
    DIFFERENT = 2

    @property
    def words(self) -> str:
        """The answer as it is printed."""
        return ("identical", "equal to 1e-5", "different")[self]


@dataclass(frozen=True)
class Closeness:
    """An answer; how: in what two outputs differ, "" for identical ones."""

    answer: Answer
    how: str = ""

    @classmethod
    def worst(cls, several: list[Closeness]) -> Closeness:
        """Return the worst of several, the first of equals; identical where there is none."""
        return max(several, key=lambda one: one.answer, default=cls(Answer.IDENTICAL))


@dataclass
class Differences:
    """The largest difference of the numbers of an array, gathered block by block."""

    largest: float = 0.0
    scale: float = 0.0
    undefined: bool = False  # NaN or infinite in one of them only

    def add(self, then: Array, now: Array) -> None:
        """Compare two blocks of one shape."""
        if not len(then):
            return
        one, other = (np.asarray(block, np.float64) for block in (then, now))
        finite = np.isfinite(one) & np.isfinite(other)
        unequal = ~finite & ~((one == other) | (np.isnan(one) & np.isnan(other)))
        self.undefined |= bool(unequal.any())
        one, other = one[finite], other[finite]
        self.scale = max(self.scale, float(np.abs(one).max(initial=0)))
        self.largest = max(self.largest, float(np.abs(one - other).max(initial=0)))

    def closeness(self, what: str) -> Closeness:
        """Return the answer for `what`, whose bytes differ."""
        if self.undefined:
            return Closeness(Answer.DIFFERENT, f"{what}: NaN or infinite in one of the two")
        share = self.largest / self.scale if self.scale else (math.inf if self.largest else 0.0)
        answer = Answer.EQUAL if share <= TOLERANCE else Answer.DIFFERENT
        return Closeness(answer, f"{what}: largest difference {share:.1e} of the largest value")
