"""The types that may get a row, collected range by range; no more of them than can be held."""

from __future__ import annotations

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Int32, Int64
from wordgeom.corpus.tokens.lexicon import Lexicon

WORD_BYTES = 200  # what a word with a row takes: its text in Python, its entry, its counts
_SPARE = 1 << 16  # types beyond those wanted before the rest is let go


def refuse_too_many(words: int, room: int) -> None:
    """Raise InputError where so many words do not fit."""
    if words * WORD_BYTES > room:
        raise InputError(
            "the vocabulary does not fit in memory",
            found=f"{words:,} words or more, which take {words * WORD_BYTES / 1e9:.2g} GB",
            do="raise --min-count, pass --max-vocab, or raise --memory: half of it is for words",
        )


class Survivors:
    """Types in the order of their numbers; at_most: so many by count are enough, 0 for all.

    room: bytes that they may take. `table` and `places` are good after `finish`.
    """

    def __init__(self, at_most: int, room: int) -> None:
        self._at_most, self._room = at_most, room
        self._parts: list[tuple[Lexicon, Int64, Int64]] = []
        self._held = 0
        self.table = Lexicon.of([])
        self._numbers = np.empty(0, np.int64)

    def add(self, types: Lexicon, numbers: Int64, named: Int64) -> None:
        """Add types, none of them there, with numbers above those; `named` (ids) always stay."""
        self._parts.append((types, numbers, named))
        self._held += len(types)
        if self._at_most and self._held > 2 * self._at_most + _SPARE:
            self._cut()
        refuse_too_many(self._held, self._room)

    def finish(self) -> None:
        """Make the table."""
        types, self._numbers, _ = self._joined()
        self._parts.clear()
        self.table = types

    def places(self, numbers: Int64) -> Int64:
        """Return the ids in the table of numbers, -1 for one that is not there."""
        if not len(self._numbers):
            return np.full(len(numbers), -1, np.int64)
        found = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return np.where(self._numbers[found] == numbers, found, -1)

    def _joined(self) -> tuple[Lexicon, Int64, Int64]:
        sizes = np.cumsum([0, *(len(types) for types, _, _ in self._parts)])
        table = Lexicon.chained([types for types, _, _ in self._parts])
        none = np.empty(0, np.int64)
        numbers = np.concatenate([none, *(numbers for _, numbers, _ in self._parts)])
        named = [ids + base for (_, _, ids), base in zip(self._parts, sizes[:-1], strict=True)]
        return table, numbers, np.concatenate([none, *named])

    def _cut(self) -> None:
        """Let go of what others are sure to keep out: by count, then by first occurrence."""
        types, numbers, named = self._joined()
        best = np.lexsort((types.firsts, -types.counts))[: self._at_most]
        stays = np.zeros(len(types), bool)
        stays[best] = stays[named] = True
        kept: Int32 = np.flatnonzero(stays).astype(np.int32)
        places = np.searchsorted(kept, named)
        self._parts = [(types.select(kept), numbers[kept], places)]
        self._held = len(kept)
