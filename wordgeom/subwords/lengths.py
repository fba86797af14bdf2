"""The lengths of n-grams."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.errors import OptionError

LONGEST = 50  # units of an n-gram


@dataclass(frozen=True)
class Lengths:
    """The lengths of n-grams in units, both ends included."""

    low: int
    high: int

    @classmethod
    def parsed(cls, text: str) -> Lengths:
        """Return the lengths that `3-6` or `3` stand for; raises OptionError."""
        first, dash, last = text.partition("-")
        ends = [first, last if dash else first]
        if not all(end.isdecimal() and end.isascii() and len(end) < 4 for end in ends):
            raise OptionError("--subwords must be lengths such as 3-6", found=repr(text))
        low, high = map(int, ends)
        if not 1 <= low <= high <= LONGEST:
            what = f"--subwords must be two lengths from 1 to {LONGEST}, the shorter one first"
            raise OptionError(what, found=text, do="write lengths such as 3-6")
        return cls(low, high)

    def __str__(self) -> str:
        return f"{self.low}-{self.high}"
