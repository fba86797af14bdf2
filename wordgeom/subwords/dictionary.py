"""A dictionary of n-grams: each n-gram that is kept has its own number."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.types import Int64, offsets
from wordgeom.subwords.ngrams import Ngrams

_LINE = ord("\n")
_Number = TypeVar("_Number", np.uint32, np.int64)


class Dictionary:
    """The symbols of n-grams, end to end, and where each begins (n + 1)."""

    def __init__(self, arena: NDArray[np.uint32], places: Int64) -> None:
        self._arena, self._places, self._number = arena, places, len(places) - 1
        self._rehash(self._number)

    @classmethod
    def empty(cls) -> Dictionary:
        """Return a dictionary to add to."""
        return cls(np.empty(0, np.uint32), np.zeros(1, np.int64))

    @classmethod
    def of_lines(cls, text: str) -> Dictionary:
        """Return the dictionary of n-grams in lines, each ended by a line feed."""
        symbols = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
        ends = np.flatnonzero(symbols == _LINE)
        lengths = np.diff(ends, prepend=-1) - 1
        return cls(symbols[symbols != _LINE], offsets(lengths))

    def __len__(self) -> int:
        return self._number

    def lines(self) -> str:
        """Return the n-grams in lines, each ended by a line feed."""
        used = self._arena[: self._places[self._number]]
        text = np.insert(used, self._places[1 : self._number + 1], _LINE)
        return text.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")

    def find(self, ngrams: Ngrams) -> Int64:
        """Return the numbers of n-grams, -1 for unknown ones."""
        from wordgeom.subwords import ngram_kernels as kernels

        found = np.empty(len(ngrams.begins), np.int64)
        kernels.find_ngrams(
            self._slots, self._arena, self._places, ngrams.symbols, ngrams.begins, ngrams.ends,
            found,
        )  # fmt: skip
        return found

    def add(self, ngrams: Ngrams) -> Int64:
        """Return the numbers of n-grams; new ones follow in order of occurrence."""
        from wordgeom.subwords import ngram_kernels as kernels

        self._make_room(len(ngrams.begins), int((ngrams.ends - ngrams.begins).sum()))
        found = np.empty(len(ngrams.begins), np.int64)
        self._number = kernels.add_ngrams(
            self._slots, self._arena, self._places, self._number, ngrams.symbols, ngrams.begins,
            ngrams.ends, found,
        )  # fmt: skip
        return found

    def keep(self, numbers: Int64) -> Dictionary:
        """Return the dictionary of some n-grams, numbered from 0; numbers: ascending."""
        lengths = np.diff(self._places[: self._number + 1])
        kept = np.zeros(self._number, bool)
        kept[numbers] = True
        used = self._arena[: self._places[self._number]]
        return Dictionary(used[np.repeat(kept, lengths)], offsets(lengths[numbers]))

    def _make_room(self, more: int, symbols: int) -> None:
        """Make room for more n-grams of as many symbols in all."""
        number, used = self._number, int(self._places[self._number])
        if used + symbols > len(self._arena):
            self._arena = _grown(self._arena[:used], 2 * (used + symbols))
        if number + more >= len(self._places):
            self._places = _grown(self._places[: number + 1], 2 * (number + more) + 1)
        if 2 * (number + more) > len(self._slots):
            self._rehash(2 * (number + more))

    def _rehash(self, room: int) -> None:
        """Make a table for at least `room` n-grams, at most half full."""
        from wordgeom.subwords import ngram_kernels as kernels

        self._slots = np.zeros(1 << (2 * max(room, 1) - 1).bit_length(), np.int64)
        kernels.fill_slots(self._slots, self._arena, self._places, self._number)


def _grown(array: NDArray[_Number], length: int) -> NDArray[_Number]:
    grown = np.empty(length, array.dtype)
    grown[: len(array)] = array
    return grown
