"""Tokenising and hashing: the loops over every byte and every token.

A lexicon is three arrays that kernels fill: `slots` (open addressing, a power of two in size; 0 is
empty, else the upper half of the hash and the id + 1), `entries` (types × 4, see below) and `arena`
(the bytes of the types, contiguous).

Negative provisional ids separate documents: FILE_END ends a file, and −n precedes a document that
begins n lines below the start of the file's previous document, or below the file's first line.
Several such ids add up, since one is at least −MOST_LINES; no block has that many lines.
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
FILE_END, MOST_LINES = -(1 << 30), (1 << 30) - 1
HASH_HEAD, HASH_BYTE = np.uint64(0x9E3779B97F4A7C15), np.uint64(0x100000001B3)

# Parts of an entry of a table of characters, see characters.py.
POINT = (1 << 21) - 1
WORD, DOTTED = 1 << 21, 1 << 22
ORDER_BIT, COLUMN_BIT, COLUMN_BITS, ROW_BIT = 23, 32, 7, 39
ORDER_MASK, COLUMN_MASK = 0xFF, (1 << COLUMN_BITS) - 1
CHANGES = 1 << 31
CHECKED = (1 << ROW_BIT) - (1 << ORDER_BIT)  # of characters that need a check
PAIRS = 0x110000

# Why a kernel stopped; on NEEDS_ROOM the caller makes room and calls again, on NOT_NORMAL it
# normalises the rest of the text.
DONE, NEEDS_ROOM, TOO_LONG, NOT_NORMAL = 0, 1, 2, 3

_CAPITAL_SIGMA, _SMALL_SIGMA, _FINAL_SIGMA = 0x3A3, 0x3C3, 0x3C2
_DOT_ABOVE = 0x307


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
def put_utf8(token: Bytes, at: int, point: int) -> int:
    """Write a code point as UTF-8 at token[at:] and return the position after it."""
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
def get_utf8(text: Bytes, at: int) -> tuple[int, int]:
    """Return the code point of the valid UTF-8 sequence at text[at], and the position after it."""
    byte = np.int64(text[at])
    if byte < 0xE0:
        return ((byte & 0x1F) << 6) | (text[at + 1] & 0x3F), at + 2
    if byte < 0xF0:
        middle = (text[at + 1] & 0x3F) << 6
        return ((byte & 0x0F) << 12) | middle | (text[at + 2] & 0x3F), at + 3
    upper = ((text[at + 1] & 0x3F) << 12) | ((text[at + 2] & 0x3F) << 6)
    return ((byte & 0x07) << 18) | upper | (text[at + 3] & 0x3F), at + 4


@kernel
def character_before(text: Bytes, at: int) -> int:
    """Return the code point that ends before text[at]."""
    i = at - 1
    if text[i] < 128:
        return int(text[i])
    while text[i] & 0xC0 == 0x80:
        i -= 1
    point, _ = get_utf8(text, i)
    return int(point)


@kernel
def changes(table: Int64, before: int, point: int) -> bool:
    """Return whether normalisation may change a character behind another, -1 for none.

    table: see characters.py. Exact but for a character with two different marks, which may be
    reported though it does not change.
    """
    if table[point] & CHANGES:
        return True
    if before < 0:
        return False
    order = (table[point] >> ORDER_BIT) & ORDER_MASK
    last = (table[before] >> ORDER_BIT) & ORDER_MASK
    if 0 < order < last:  # out of order
        return True
    column = (table[point] >> COLUMN_BIT) & COLUMN_MASK
    if column == 0:
        return False
    if last > 0:  # it may compose with the character before the last mark
        return bool(last < order)
    row = table[before] >> ROW_BIT
    return bool(table[PAIRS + (row << COLUMN_BITS) + column] != 0)


@kernel
def ends_word(text: Bytes, at: int, table: Int64) -> bool:
    """Return whether no character of a word stands at text[at]."""
    if at >= len(text):
        return True
    point = int(text[at])
    if point >= 128:
        point, _ = get_utf8(text, at)
    return bool(table[point] & WORD == 0)


@kernel
def scan_unicode(
    text: Bytes, start: int, byte_map: Bytes, table: Int64, checked: int, token: Bytes,
) -> tuple[int, int]:  # fmt: skip
    """Copy a token from text[start:] to `token`; it ends at a separator.

    table: see characters.py; checked: CHECKED to check characters with these bits, else 0.
    Returns the end of the token in the text and its length in bytes, -1 if normalisation may change
    the token.
    """
    n = len(text)
    i = start
    length = 0
    before = -1 if start == 0 else -2  # -2: not known
    while i < n and length < MAX_TOKEN:
        byte = text[i]
        if byte < 128:
            if byte_map[byte] == 0:
                break
            token[length] = byte_map[byte]
            length += 1
            i += 1
            before = int(byte)
            continue
        here, after = get_utf8(text, i)
        found = table[here]
        if found & checked:
            if before == -2:
                before = character_before(text, i)
            if changes(table, before, here):
                return i, -1
        point = found & POINT
        if point == 0:
            break
        small_sigma = here == _CAPITAL_SIGMA and point == _SMALL_SIGMA
        if small_sigma and before >= 0 and table[before] & WORD and ends_word(text, after, table):
            point = _FINAL_SIGMA
        length = put_utf8(token, length, point)
        if found & DOTTED:
            length = put_utf8(token, length, _DOT_ABOVE)
        before = here
        i = after
    return i, length


@kernel
def skip_unicode(text: Bytes, start: int, table: Int64, checked: int) -> int:
    """Return the end of the separators above code point 127 at text[start:] that cannot change."""
    i = start
    while i < len(text) and text[i] >= 128:
        point, after = get_utf8(text, i)
        if table[point] & (POINT | (CHANGES & checked)):
            break
        i = after
    return i


@kernel
def tokenise(
    text: Bytes, begin: int, base: int, byte_map: Bytes, table: Int64, checked: int,
    newlines_end_document: int, slots: Int64, entries: Int64, arena: Bytes, sizes: Int64,
    ids: Int32, state: Int64,
) -> int:  # fmt: skip
    """Tokenise text[begin:] into ids, adding new types to the lexicon.

    byte_map (256) uint8: what a byte becomes in a token, 0 for a separator; table (int64): see
    characters.py, empty if byte_map suffices; checked: CHECKED to stop before a token that
    normalisation may change, else 0. base: position of text[0] in the corpus. state (6) int64: ids
    written, line feeds since the last token, line feeds before the first token (-1 until one is
    read), reason to stop, line feeds
    from the start of the last document (or from the first token) to the last token, whether a
    document began after the first token. Returns the position in the text at which it stopped.
    """
    # The path of a known ASCII token is inlined: a call between kernels counts references to every
    # array it passes, which here took twice the time of the work itself.
    n = len(text)
    mask = len(slots) - 1
    unicode = len(table) > 0
    token = np.empty(MAX_TOKEN + 8, np.uint8)
    written = state[0]
    newlines = state[1]
    lines = state[4]
    i = max(begin, 0)
    while True:
        while i < n:
            byte = text[i]
            if byte < 128 or not unicode:
                if byte_map[byte] != 0:
                    break
                newlines += byte == 10
                i += 1
            else:
                after = skip_unicode(text, i, table, checked)
                if after == i:
                    break
                i = after
        if i >= n:
            state[0], state[1], state[3], state[4] = written, newlines, DONE, lines
            return i

        start = i
        head = np.uint64(0)
        shift = np.uint64(0)
        length = 0
        end = min(n, start + 8)
        while i < end:
            mapped = byte_map[text[i]]
            if mapped == 0:
                break
            head |= np.uint64(mapped) << shift
            shift += np.uint64(8)
            token[length] = mapped
            length += 1
            i += 1
        hashed = head * HASH_HEAD
        if length == 8:
            end = min(n, start + MAX_TOKEN)
            while i < end:
                mapped = byte_map[text[i]]
                if mapped == 0:
                    break
                hashed = (hashed ^ np.uint64(mapped)) * HASH_BYTE
                token[length] = mapped
                length += 1
                i += 1
        first = int(np.int64(head))
        mixed = int(np.int64((hashed ^ (hashed >> np.uint64(32))) >> np.uint64(1)))
        if unicode and i < n and text[i] >= 128:
            i, length = scan_unicode(text, start, byte_map, table, checked, token)
            if length < 0:
                state[0], state[1], state[3], state[4] = written, newlines, NOT_NORMAL, lines
                return start
            first, mixed = hash_bytes(token, length)
        if length >= MAX_TOKEN:
            state[3] = TOO_LONG
            return start

        slot = mixed & mask
        word = -1
        while slots[slot] != 0:
            if slots[slot] >> 32 == mixed >> 32:
                other = (slots[slot] & 0xFFFFFFFF) - 1
                place = entries[other, PLACE]
                if entries[other, HEAD] == first and place & LENGTH_MASK == length:
                    at = place >> LENGTH_BITS
                    k = 8
                    while k < length and arena[at + k] == token[k]:
                        k += 1
                    if k >= length:
                        word = other
                        break
            slot = (slot + 1) & mask
        if word < 0:
            if not has_room(slots, entries, arena, sizes):
                state[0], state[1], state[3], state[4] = written, newlines, NEEDS_ROOM, lines
                return start
            seen = base + start
            word = add_type(slots, entries, arena, sizes, slot, token, length, first, mixed, seen)
        entries[word, COUNT] += 1
        if state[2] < 0:
            state[2] = newlines
        else:
            lines += newlines
            if newlines >= newlines_end_document:
                ids[written] = -lines
                written += 1
                lines = 0
                state[5] = 1
        newlines = 0
        ids[written] = word
        written += 1


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
