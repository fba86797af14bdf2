"""The loops over the types of a lexicon: hashing, finding and adding them.

A lexicon is three arrays: `slots` (open addressing, a power of two in size; 0 is empty, else the
upper half of the hash and the id + 1), `entries` (types × 4, see below) and `arena` (the bytes of
the types, contiguous).
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Bytes, Int32, Int64
from wordgeom.runtime.jit import kernel

# Columns of a lexicon's entries (int64): the first eight bytes, the offset in the arena with the
# length, the count, the position of the first occurrence.
HEAD, PLACE, COUNT, FIRST = 0, 1, 2, 3
LENGTH_BITS = 16
LENGTH_MASK = (1 << LENGTH_BITS) - 1
MAX_TOKEN = 4096  # bytes
HASH_HEAD, HASH_BYTE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x100000001B3)


@kernel
def hash_bytes(token: Bytes, length: int) -> tuple[int, int]:
    """Return the first eight bytes of a token as a number, and a 64-bit hash of the token."""
    head = np.uint64(0)
    for k in range(min(length, 8)):
        head |= np.uint64(token[k]) << np.uint64(8 * k)
    mixed = head * HASH_HEAD
    for k in range(8, length):
        mixed = (mixed ^ np.uint64(token[k])) * HASH_BYTE
    mixed = (mixed ^ (mixed >> np.uint64(32))) >> np.uint64(1)
    return int(np.int64(head)), int(np.int64(mixed))


@kernel
def find_slot(
    slots: Int64, entries: Int64, arena: Bytes, token: Bytes, length: int, head: int, mixed: int,
) -> int:  # fmt: skip
    """Return the slot of a token, or the empty slot for it."""
    mask = len(slots) - 1
    slot = mixed & mask
    while slots[slot] != 0:
        if slots[slot] >> 32 == mixed >> 32:
            word = (slots[slot] & 0xFFFFFFFF) - 1
            place = entries[word, PLACE]
            if entries[word, HEAD] == head and place & LENGTH_MASK == length:
                start = place >> LENGTH_BITS
                k = 8
                while k < length and arena[start + k] == token[k]:
                    k += 1
                if k >= length:
                    return slot
        slot = (slot + 1) & mask
    return slot


@kernel
def add_type(
    slots: Int64, entries: Int64, arena: Bytes, sizes: Int64, slot: int, token: Bytes, length: int,
    head: int, mixed: int, first: int,
) -> int:  # fmt: skip
    """Add a type with count 0 to the empty `slot` and return its id; there must be room."""
    word = sizes[0]
    start = sizes[1]
    slots[slot] = ((mixed >> 32) << 32) | (word + 1)
    entries[word, HEAD] = head
    entries[word, PLACE] = (start << LENGTH_BITS) | length
    entries[word, COUNT] = 0
    entries[word, FIRST] = first
    for k in range(length):
        arena[start + k] = token[k]
    sizes[0] = word + 1
    sizes[1] = start + length
    return int(word)


@kernel
def has_room(slots: Int64, entries: Int64, arena: Bytes, sizes: Int64) -> bool:
    """Return whether one more type of any length fits, with the table at most half full."""
    types = int(sizes[0]) + 1
    used = int(sizes[1])
    return types <= len(entries) and 2 * types <= len(slots) and used + MAX_TOKEN <= len(arena)


@kernel
def rehash(slots: Int64, entries: Int64, arena: Bytes, types: int) -> None:
    """Fill the empty table `slots` with the first `types` entries."""
    token = np.empty(MAX_TOKEN, np.uint8)
    mask = len(slots) - 1
    for word in range(types):
        start = entries[word, PLACE] >> LENGTH_BITS
        length = entries[word, PLACE] & LENGTH_MASK
        for k in range(length):
            token[k] = arena[start + k]
        _, mixed = hash_bytes(token, length)
        slot = mixed & mask
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        slots[slot] = ((mixed >> 32) << 32) | (word + 1)


@kernel
def absorb(
    slots: Int64, entries: Int64, arena: Bytes, sizes: Int64, other: Int64, other_arena: Bytes,
    begin: int, other_types: int, mapping: Int32,
) -> int:  # fmt: skip
    """Add the types of another lexicon with counts and first positions; mapping: its ids → ours.

    Starts at its type `begin` and returns the type at which it stopped for lack of room.
    """
    token = np.empty(MAX_TOKEN, np.uint8)
    for theirs in range(begin, other_types):
        if not has_room(slots, entries, arena, sizes):
            return theirs
        start = other[theirs, PLACE] >> LENGTH_BITS
        length = other[theirs, PLACE] & LENGTH_MASK
        for k in range(length):
            token[k] = other_arena[start + k]
        head, mixed = hash_bytes(token, length)
        slot = find_slot(slots, entries, arena, token, length, head, mixed)
        first = other[theirs, FIRST]
        if slots[slot] != 0:
            word = (slots[slot] & 0xFFFFFFFF) - 1
        else:
            word = add_type(slots, entries, arena, sizes, slot, token, length, head, mixed, first)
        entries[word, COUNT] += other[theirs, COUNT]
        entries[word, FIRST] = min(entries[word, FIRST], first)
        mapping[theirs] = word
    return other_types
