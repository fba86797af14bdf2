"""A growing hash table of word types: bytes → provisional id, with counts and first positions."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Bytes, Int32, Int64
from wordgeom.corpus.tokens import kernels, lexicon_kernels, spill_kernels

_INITIAL_TYPES = 1 << 15
_INITIAL_ARENA = 1 << 20
_NO_LIMIT = 1 << 62
_NEVER_SEEN = np.iinfo(np.int64).max


class Lexicon:
    """The types that one thread has read; ids are in order of first occurrence.

    limit: bytes that it may grow to (it always has room for a few types).
    """

    def __init__(self, limit: int = _NO_LIMIT) -> None:
        self.limit = limit
        self.slots = np.zeros(4 * _INITIAL_TYPES, np.int64)
        self.entries = np.empty((_INITIAL_TYPES, 4), np.int64)
        self.arena = np.empty(_INITIAL_ARENA, np.uint8)
        self.sizes = np.zeros(2, np.int64)  # types, bytes of the arena

    def __len__(self) -> int:
        return int(self.sizes[0])

    @property
    def counts(self) -> Int64:
        """(types) occurrences of each type."""
        return self.entries[: len(self), lexicon_kernels.COUNT]

    @property
    def firsts(self) -> Int64:
        """(types) position of the first occurrence of each type."""
        return self.entries[: len(self), lexicon_kernels.FIRST]

    @property
    def nbytes(self) -> int:
        """Bytes of memory."""
        return self.slots.nbytes + self.entries.nbytes + self.arena.nbytes

    def word(self, index: int) -> bytes:
        """Return the bytes of a type."""
        place = int(self.entries[index, lexicon_kernels.PLACE])
        start = place >> lexicon_kernels.LENGTH_BITS
        return self.arena[start : start + (place & lexicon_kernels.LENGTH_MASK)].tobytes()

    def grow(self) -> bool:
        """Make room for more types and more bytes; return False if the limit does not allow it."""
        types, used = len(self), int(self.sizes[1])
        more_types = 2 * (types + 1) > len(self.slots) // 2 or types + 1 > len(self.entries)
        more_bytes = used + lexicon_kernels.MAX_TOKEN > len(self.arena)
        table, texts = self.slots.nbytes + self.entries.nbytes, self.arena.nbytes
        if types and (table << more_types) + (texts << more_bytes) > self.limit:
            return False
        if more_types:
            entries = np.empty((2 * len(self.entries), 4), np.int64)
            entries[:types] = self.entries[:types]
            slots = np.zeros(4 * len(entries), np.int64)
            lexicon_kernels.rehash(slots, entries, self.arena, types)
            self.slots, self.entries = slots, entries
        if more_bytes:
            arena = np.empty(2 * len(self.arena), np.uint8)
            arena[:used] = self.arena[:used]
            self.arena = arena
        return True

    def clear(self) -> None:
        """Remove all types but keep the memory."""
        self.slots[:] = 0
        self.sizes[:] = 0

    def add(self, words: list[bytes]) -> Int32:
        """Add words with count 0 and return the id of each."""
        return self.absorb(Lexicon.of(words))

    def absorb(self, other: Lexicon) -> Int32:
        """Add another lexicon's types and counts, ignoring the limit; return its ids → ours."""
        mapping = np.empty(len(other), np.int32)
        self.limit = _NO_LIMIT
        done = 0
        while done < len(other):
            done = lexicon_kernels.absorb(
                self.slots, self.entries, self.arena, self.sizes,
                other.entries, other.arena, done, len(other), mapping,
            )  # fmt: skip
            if done < len(other):
                self.grow()
        return mapping

    def select(self, chosen: Int32) -> Lexicon:
        """Return a lexicon of the types `chosen`, in that order (no hash table)."""
        lengths = self.entries[chosen, lexicon_kernels.PLACE] & lexicon_kernels.LENGTH_MASK
        entries = np.empty((len(chosen), 4), np.int64)
        arena = np.empty(int(lengths.sum()), np.uint8)
        spill_kernels.gather(self.entries, self.arena, chosen, entries, arena)
        return Lexicon.from_arrays(entries, arena)

    @classmethod
    def from_arrays(cls, entries: Int64, arena: Bytes) -> Lexicon:
        """Return a lexicon of given entries (types × 4) and their bytes (no hash table)."""
        lexicon = cls.__new__(cls)
        lexicon.limit = _NO_LIMIT
        lexicon.slots = np.empty(0, np.int64)
        lexicon.entries, lexicon.arena = entries, arena
        lexicon.sizes = np.array([len(entries), len(arena)], np.int64)
        return lexicon

    @classmethod
    def concatenated(cls, parts: list[Lexicon]) -> Lexicon:
        """Return a lexicon with the entries of others in sequence (no hash table)."""
        entries = np.concatenate([np.empty((0, 4), np.int64), *(p.entries for p in parts)])
        arena = np.concatenate([np.empty(0, np.uint8), *(p.arena for p in parts)])
        lengths = entries[:, lexicon_kernels.PLACE] & lexicon_kernels.LENGTH_MASK
        starts = np.cumsum(lengths) - lengths
        entries[:, lexicon_kernels.PLACE] = (starts << lexicon_kernels.LENGTH_BITS) | lengths
        return cls.from_arrays(entries, arena)

    @classmethod
    def with_room(cls, types: int, size: int) -> Lexicon:
        """Return an empty lexicon with room for `types` types of `size` bytes in total."""
        lexicon = cls.from_arrays(np.empty((types + 1, 4), np.int64), np.empty(0, np.uint8))
        lexicon.arena = np.empty(size + lexicon_kernels.MAX_TOKEN, np.uint8)
        lexicon.slots = np.zeros(1 << (2 * types + 1).bit_length(), np.int64)
        lexicon.sizes[:] = 0
        return lexicon

    @classmethod
    def of(cls, words: list[bytes]) -> Lexicon:
        """Return a lexicon whose entries are `words`, in order, with count 0 (no hash table)."""
        lengths = np.array([len(w) for w in words], np.int64)
        starts = np.cumsum(lengths) - lengths
        entries = np.zeros((len(words), 4), np.int64)
        entries[:, lexicon_kernels.PLACE] = (starts << lexicon_kernels.LENGTH_BITS) | lengths
        entries[:, lexicon_kernels.FIRST] = _NEVER_SEEN
        return cls.from_arrays(entries, np.frombuffer(b"".join(words), np.uint8).copy())

    def tokenise(
        self, text: Bytes, at: int, base: int, byte_map: Bytes, table: Int64, checked: int,
        threshold: int, ids: Int32, state: Int64,
    ) -> int:  # fmt: skip
        """Tokenise text[at:] into `ids`; return the position at which it stopped.

        state: see the kernel; if it stopped for lack of room, the lexicon is full.
        """
        while True:
            at = kernels.tokenise(
                text, at, base, byte_map, table, checked, threshold,
                self.slots, self.entries, self.arena, self.sizes, ids, state,
            )  # fmt: skip
            if state[3] != kernels.NEEDS_ROOM or not self.grow():
                return at
