"""What a unit is: a way to cut words into the pieces that n-grams are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.types import Int64, offsets

BEGIN, END = "<", ">"  # units before and after each word, as in fastText


@dataclass(frozen=True)
class Cut:
    """Words, each between BEGIN and END, cut into units.

    symbols uint32: the code points of all words; bounds: where the units of each word begin in
    `symbols`, and where its last one ends; starts (n + 1): of each word in `bounds`.
    """

    symbols: NDArray[np.uint32]
    bounds: Int64
    starts: Int64


class Unit(Protocol):
    """One kind of unit."""

    def cut(self, words: Sequence[str]) -> Cut:
        """Return words cut into units."""


def code_points(words: Sequence[str]) -> tuple[NDArray[np.uint32], Int64]:
    """Return the code points of BEGIN + word + END, end to end, and the start of each (n + 1)."""
    text = "".join(f"{BEGIN}{word}{END}" for word in words)
    symbols = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    lengths = np.fromiter((len(word) + 2 for word in words), np.int64, len(words))
    return symbols, offsets(lengths)


def cut_at_each(words: Sequence[str]) -> Cut:
    """Return words cut at each code point."""
    symbols, starts = code_points(words)
    # A word has one more bound than units.
    bounds = np.arange(len(symbols) + len(words)) - np.repeat(
        np.arange(len(words)), np.diff(starts) + 1
    )
    return Cut(symbols, bounds, starts + np.arange(len(starts)))


def cut_by_lists(words: Sequence[Sequence[str]]) -> Cut:
    """Return words given as lists of their units."""
    units = [unit for word in words for unit in (BEGIN, *word, END)]
    symbols = np.frombuffer("".join(units).encode("utf-32-le", "surrogatepass"), "<u4")
    ends = offsets(np.fromiter(map(len, units), np.int64, len(units)))
    numbers = np.fromiter((len(word) + 2 for word in words), np.int64, len(words))
    starts = offsets(numbers)
    places = np.arange(len(units) + len(words)) - np.repeat(np.arange(len(words)), numbers + 1)
    return Cut(symbols, ends[places], starts + np.arange(len(starts)))
