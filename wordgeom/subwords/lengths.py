"""The lengths of n-grams."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.whole_numbers import whole_numbers

LONGEST = 50  # units of an n-gram


@dataclass(frozen=True)
class Lengths:
    """The lengths of n-grams in units, both ends included."""

    low: int
    high: int

    @classmethod
    def parsed(cls, text: str) -> Lengths:
        """Return the lengths that `2-6` or `3` stand for; raises OptionError."""
        ends = whole_numbers(text, "-")
        if len(ends) not in (1, 2):
            raise OptionError("--subwords must be lengths such as 2-6", found=repr(text))
        low, high = ends[0], ends[-1]
        if not 1 <= low <= high <= LONGEST:
            what = f"--subwords must be lengths from 1 to {LONGEST}, the shorter one first"
            raise OptionError(what, found=text, do="write lengths such as 2-6")
        return cls(low, high)

    def __str__(self) -> str:
        return f"{self.low}-{self.high}" if self.low < self.high else f"{self.low}"
