"""`--shard i/N`: one of N parts of a text that are counted apart."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.whole_numbers import whole_numbers


@dataclass(frozen=True)
class Shard:
    """Part `index` (from 1) of `of` of one count."""

    index: int
    of: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `i/N`; raises OptionError."""
        numbers = whole_numbers(text, "/")
        if len(numbers) != 2:
            raise OptionError("--shard must be i/N, such as 1/8", found=repr(text))
        index, of = numbers
        if not 1 <= index <= of <= 1_000_000:
            raise OptionError("--shard i/N needs 1 ≤ i ≤ N ≤ 1,000,000", found=repr(text))
        return cls(index, of)

    @property
    def suffix(self) -> str:
        """What the command line appends to the name of the output."""
        return f".shard-{self.index}-of-{self.of}"

    def span(self, length: int) -> tuple[int, int]:
        """Return the part of [0, length) that this shard counts."""
        return length * (self.index - 1) // self.of, length * self.index // self.of
