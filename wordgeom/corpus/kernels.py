"""Tokenising, hashing and mapping of ids: the loops over every byte and every token.

A lexicon is three arrays that a kernel fills: `slots` (open addressing, a power of two; 0 is
empty, else the hash's upper half and the id + 1), `entries` (types × 4, see below), `arena`
(the types' bytes, one after the other).
"""

from __future__ import annotations

import numpy as np

from wordgeom._jit import kernel

# Columns of a lexicon's entries (int64): the first eight bytes, where the bytes lie in the
# arena and how many they are, how often the type was seen, where it was seen first.
HEAD, PLACE, COUNT, FIRST = 0, 1, 2, 3
LENGTH_BITS = 16
MAX_TOKEN = 4096  # bytes
BOUNDARY = -1

# What a kernel stopped for; the caller makes room and calls again.
DONE, NEEDS_ROOM, TOO_LONG = 0, 1, 2

_LENGTH_MASK = (1 << LENGTH_BITS) - 1
_CAPITAL_SIGMA, _SMALL_SIGMA, _FINAL_SIGMA = 0x3A3, 0x3C3, 0x3C2
_CAPITAL_I_DOT, _DOT_ABOVE = 0x130, 0x307


@kernel
def hash_bytes(token, length):  # type: ignore[no-untyped-def]
    """Return the first eight bytes of a token as an int64, and a 64-bit hash of all of it."""
    head = np.uint64(0)
    for k in range(min(length, 8)):
        head |= np.uint64(token[k]) << np.uint64(8 * k)
    mixed = (head ^ np.uint64(length)) * np.uint64(0x9E3779B97F4A7C15)
    for k in range(8, length):
        mixed = (mixed ^ np.uint64(token[k])) * np.uint64(0x100000001B3)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return np.int64(head), mixed


@kernel
def find_slot(slots, entries, arena, token, length, head, mixed):  # type: ignore[no-untyped-def]
    """Return the slot of a token: the one that holds it, or the empty one where it belongs."""
    mask = len(slots) - 1
    upper = np.int64(mixed >> np.uint64(32))
    slot = np.int64(mixed & np.uint64(mask))
    while slots[slot] != 0:
        if slots[slot] >> 32 == np.int64(np.int32(upper)):
            word = (slots[slot] & 0xFFFFFFFF) - 1
            place = entries[word, PLACE]
            if entries[word, HEAD] == head and place & _LENGTH_MASK == length:
                start = place >> LENGTH_BITS
                same = True
                for k in range(8, length):
                    if arena[start + k] != token[k]:
                        same = False
                        break
                if same:
                    return slot
        slot = (slot + 1) & mask
    return slot


@kernel
def add_type(  # type: ignore[no-untyped-def]
    slots, entries, arena, sizes, slot, token, length, head, mixed, first
):
    """Add a type to the empty `slot` with count 0 and return its id; room must be there."""
    word = sizes[0]
    start = sizes[1]
    slots[slot] = (np.int64(np.int32(mixed >> np.uint64(32))) << 32) | (word + 1)
    entries[word, HEAD] = head
    entries[word, PLACE] = (start << LENGTH_BITS) | length
    entries[word, COUNT] = 0
    entries[word, FIRST] = first
    for k in range(length):
        arena[start + k] = token[k]
    sizes[0] = word + 1
    sizes[1] = start + length
    return word


@kernel
def has_room(slots, entries, arena, sizes):  # type: ignore[no-untyped-def]
    """Tell whether one more type of any length fits, with the table at most half full."""
    types = sizes[0] + 1
    return types <= len(entries) and 2 * types <= len(slots) and sizes[1] + MAX_TOKEN <= len(arena)


@kernel
def rehash(slots, entries, arena, types):  # type: ignore[no-untyped-def]
    """Fill the empty table `slots` with the first `types` entries."""
    token = np.empty(MAX_TOKEN, np.uint8)
    mask = len(slots) - 1
    for word in range(types):
        start = entries[word, PLACE] >> LENGTH_BITS
        length = entries[word, PLACE] & _LENGTH_MASK
        for k in range(length):
            token[k] = arena[start + k]
        _, mixed = hash_bytes(token, length)
        slot = np.int64(mixed & np.uint64(mask))
        while slots[slot] != 0:
            slot = (slot + 1) & mask
        slots[slot] = (np.int64(np.int32(mixed >> np.uint64(32))) << 32) | (word + 1)


@kernel
def put_utf8(token, at, point):  # type: ignore[no-untyped-def]
    """Write a code point as UTF-8 at token[at:] and return the place after it."""
    if point < 0x80:
        token[at] = point
        return at + 1
    if point < 0x800:
        token[at] = 0xC0 | (point >> 6)
        token[at + 1] = 0x80 | (point & 0x3F)
        return at + 2
    if point < 0x10000:
        token[at] = 0xE0 | (point >> 12)
        token[at + 1] = 0x80 | ((point >> 6) & 0x3F)
        token[at + 2] = 0x80 | (point & 0x3F)
        return at + 3
    token[at] = 0xF0 | (point >> 18)
    token[at + 1] = 0x80 | ((point >> 12) & 0x3F)
    token[at + 2] = 0x80 | ((point >> 6) & 0x3F)
    token[at + 3] = 0x80 | (point & 0x3F)
    return at + 4


@kernel
def get_utf8(text, at):  # type: ignore[no-untyped-def]
    """Return the code point of the valid UTF-8 sequence at text[at], and the place after it."""
    byte = np.int64(text[at])
    if byte < 0xE0:
        return ((byte & 0x1F) << 6) | (text[at + 1] & 0x3F), at + 2
    if byte < 0xF0:
        middle = (text[at + 1] & 0x3F) << 6
        return ((byte & 0x0F) << 12) | middle | (text[at + 2] & 0x3F), at + 3
    upper = ((text[at + 1] & 0x3F) << 12) | ((text[at + 2] & 0x3F) << 6)
    return ((byte & 0x07) << 18) | upper | (text[at + 3] & 0x3F), at + 4


@kernel
def tokenise(  # type: ignore[no-untyped-def]
    text, begin, base, byte_map, lower, newlines_end_document,
    slots, entries, arena, sizes, ids, state,
):  # fmt: skip
    """Turn text[begin:] into ids, adding new types to the lexicon.

    byte_map (256) uint8: what an ASCII byte becomes in a token, 0 where it separates; bytes
    above 127 are kept as they are unless `lower` has entries. lower (code points) int32: what a
    code point becomes, 0 where it separates. state (4) int64: ids written, newlines seen since
    the last token, newlines before the first token (-1 before it is met), reason to stop.
    Returns where it stopped in the text.
    """
    n = len(text)
    token = np.empty(MAX_TOKEN + 8, np.uint8)
    unicode = len(lower) > 0
    written = state[0]
    newlines = state[1]
    i = begin
    while True:
        # Between tokens: find the first byte or code point that belongs to one.
        while i < n:
            byte = text[i]
            if byte < 128 or not unicode:
                if byte_map[byte] != 0:
                    break
                if byte == 10:
                    newlines += 1
                i += 1
            else:
                point, after = get_utf8(text, i)
                if lower[point] != 0:
                    break
                i = after
        if i >= n:
            break
        start = i
        length = 0
        point = 0
        while i < n and length < MAX_TOKEN:
            byte = text[i]
            if byte < 128 or not unicode:
                mapped = byte_map[byte]
                if mapped == 0:
                    break
                token[length] = mapped
                length += 1
                i += 1
                point = 0
            else:
                point, after = get_utf8(text, i)
                small = lower[point]
                if small == 0:
                    break
                length = put_utf8(token, length, small)
                if point == _CAPITAL_I_DOT:
                    length = put_utf8(token, length, _DOT_ABOVE)
                i = after
        if length >= MAX_TOKEN:
            state[3] = TOO_LONG
            return start
        if point == _CAPITAL_SIGMA and length > 2:  # the letter's form at the end of a word
            put_utf8(token, length - 2, _FINAL_SIGMA)

        head, mixed = hash_bytes(token, length)
        slot = find_slot(slots, entries, arena, token, length, head, mixed)
        if slots[slot] != 0:
            word = (slots[slot] & 0xFFFFFFFF) - 1
        elif has_room(slots, entries, arena, sizes):
            word = add_type(
                slots, entries, arena, sizes, slot, token, length, head, mixed, base + start
            )
        else:
            state[0], state[1], state[3] = written, newlines, NEEDS_ROOM
            return start
        entries[word, COUNT] += 1
        if state[2] < 0:
            state[2] = newlines
        elif newlines >= newlines_end_document:
            ids[written] = BOUNDARY
            written += 1
        newlines = 0
        ids[written] = word
        written += 1
    state[0], state[1], state[3] = written, newlines, DONE
    return i


@kernel
def absorb(slots, entries, arena, sizes, other, other_arena, begin, other_types, mapping):  # type: ignore[no-untyped-def]
    """Add the types of another lexicon, with counts and first places; mapping: its ids → ours.

    Starts at its type `begin` and returns the type it stopped at for want of room.
    """
    token = np.empty(MAX_TOKEN, np.uint8)
    for theirs in range(begin, other_types):
        if not has_room(slots, entries, arena, sizes):
            return theirs
        start = other[theirs, PLACE] >> LENGTH_BITS
        length = other[theirs, PLACE] & _LENGTH_MASK
        for k in range(length):
            token[k] = other_arena[start + k]
        head, mixed = hash_bytes(token, length)
        slot = find_slot(slots, entries, arena, token, length, head, mixed)
        first = other[theirs, FIRST]
        if slots[slot] != 0:
            word = (slots[slot] & 0xFFFFFFFF) - 1
        else:
            word = add_type(
                slots, entries, arena, sizes, slot, token, length, head, mixed, first
            )
        entries[word, COUNT] += other[theirs, COUNT]
        entries[word, FIRST] = min(entries[word, FIRST], first)
        mapping[theirs] = word
    return other_types


@kernel
def uniform(seed, position):  # type: ignore[no-untyped-def]
    """Return a number in [0, 1) that depends on (seed, position) alone (splitmix64)."""
    x = np.uint64(seed) * np.uint64(0xD1342543DE82EF95) + np.uint64(position)
    x = (x + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    x ^= x >> np.uint64(31)
    return np.float64(x >> np.uint64(11)) * 2.0**-53


@kernel
def map_ids(ids, mapping, oov, drop, keep, seed, gap, short, state, out):  # type: ignore[no-untyped-def]
    """Turn provisional ids into final ones, with `gap` ids `oov` between documents.

    mapping: provisional → final id or `oov`; keep (oov + 1) float64: a word's probability to be
    kept, empty for all; drop: leave out what is not kept or not in the vocabulary, instead of
    writing `oov` in its place. state (6) int64: tokens seen, documents begun, tokens of the open
    document, whether a gap is owed, documents shorter than `short`, tokens written.
    Returns how many ids were written to `out`.
    """
    written = 0
    for k in range(len(ids)):
        word = ids[k]
        if word == BOUNDARY:
            if state[2] > 0:
                state[4] += state[2] < short
                state[2] = 0
                state[3] = 1
            continue
        position = state[0]
        state[0] += 1
        if state[2] == 0:
            state[1] += 1
            if state[3] != 0:
                for _ in range(gap):
                    out[written] = oov
                    written += 1
                state[3] = 0
        state[2] += 1
        final = mapping[word]
        if final != oov and len(keep) > 0 and uniform(seed, position) >= keep[final]:
            final = oov
        state[5] += final != oov
        if drop and final == oov:
            continue
        out[written] = final
        written += 1
    return written
