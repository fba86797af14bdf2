"""A growing table of word types: bytes → provisional id, with counts and first places."""

from __future__ import annotations

import numpy as np

from wordgeom.corpus import kernels
from wordgeom.types import Bytes, Int32, Int64

_FIRST_TYPES = 1 << 15
_FIRST_ARENA = 1 << 20


class Lexicon:
    """The types that one thread has met; ids are in order of meeting them."""

    def __init__(self) -> None:
        self.slots = np.zeros(4 * _FIRST_TYPES, np.int64)
        self.entries = np.empty((_FIRST_TYPES, 4), np.int64)
        self.arena = np.empty(_FIRST_ARENA, np.uint8)
        self.sizes = np.zeros(2, np.int64)  # types, bytes of the arena

    def __len__(self) -> int:
        return int(self.sizes[0])

    @property
    def counts(self) -> Int64:
        """(types) occurrences of each type."""
        return self.entries[: len(self), kernels.COUNT]

    @property
    def firsts(self) -> Int64:
        """(types) where each type was met first."""
        return self.entries[: len(self), kernels.FIRST]

    def word(self, index: int) -> bytes:
        """Return the bytes of a type."""
        place = int(self.entries[index, kernels.PLACE])
        start = place >> kernels.LENGTH_BITS
        return self.arena[start : start + (place & 0xFFFF)].tobytes()

    def grow(self) -> None:
        """Make room for more types and more bytes."""
        types, used = len(self), int(self.sizes[1])
        if 2 * (types + 1) > len(self.slots) // 2 or types + 1 > len(self.entries):
            entries = np.empty((2 * len(self.entries), 4), np.int64)
            entries[:types] = self.entries[:types]
            slots = np.zeros(4 * len(entries), np.int64)
            kernels.rehash(slots, entries, self.arena, types)
            self.slots, self.entries = slots, entries
        if used + kernels.MAX_TOKEN > len(self.arena):
            arena = np.empty(2 * len(self.arena), np.uint8)
            arena[:used] = self.arena[:used]
            self.arena = arena

    def add(self, words: list[bytes]) -> Int32:
        """Add words with count 0 and return the id of each."""
        other = Lexicon.of(words)
        return self.absorb(other)

    def absorb(self, other: Lexicon) -> Int32:
        """Add another lexicon's types and counts; return its ids → ours."""
        mapping = np.empty(len(other), np.int32)
        done = 0
        while done < len(other):
            done = kernels.absorb(
                self.slots, self.entries, self.arena, self.sizes,
                other.entries, other.arena, done, len(other), mapping,
            )  # fmt: skip
            if done < len(other):
                self.grow()
        return mapping

    @classmethod
    def of(cls, words: list[bytes]) -> Lexicon:
        """Make a lexicon whose entries are `words`, in order, with count 0 (no look-up table)."""
        made = cls()
        lengths = np.array([len(w) for w in words], np.int64)
        starts = np.cumsum(lengths) - lengths
        made.entries = np.zeros((max(len(words), 1), 4), np.int64)
        made.entries[: len(words), kernels.PLACE] = (starts << kernels.LENGTH_BITS) | lengths
        made.entries[: len(words), kernels.FIRST] = np.iinfo(np.int64).max
        made.arena = np.frombuffer(b"".join(words) + b"\0", np.uint8).copy()
        made.sizes[:] = len(words), int(lengths.sum())
        return made

    def tokenise(
        self, text: Bytes, base: int, byte_map: Bytes, lower: Int32, threshold: int, ids: Int32
    ) -> tuple[Int64, int]:
        """Tokenise a block into `ids`; returns the kernel's state and where it stopped."""
        state = np.array([0, 0, -1, kernels.NEEDS_ROOM], np.int64)
        at = 0
        while state[3] == kernels.NEEDS_ROOM:
            at = kernels.tokenise(
                text, at, base, byte_map, lower, threshold,
                self.slots, self.entries, self.arena, self.sizes, ids, state,
            )  # fmt: skip
            if state[3] == kernels.NEEDS_ROOM:
                self.grow()
        return state, at
