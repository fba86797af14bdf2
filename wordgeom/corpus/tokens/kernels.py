"""Tokenising: the loops over every byte of a text, which fill a lexicon (lexicon_kernels.py).

Negative provisional ids separate documents: FILE_END ends a file, and −n precedes a document that
begins n lines below the start of the file's previous document, or below the file's first line.
Several such ids add up, since one is at least −MOST_LINES; no block has that many lines.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Bytes, Int32, Int64
from wordgeom.corpus.tokens.character_kernels import (
    CHANGES,
    DOTTED,
    POINT,
    WORD,
    changes,
    character_before,
    ends_word,
    get_utf8,
    put_utf8,
)
from wordgeom.corpus.tokens.lexicon_kernels import (
    COUNT,
    HASH_BYTE,
    HASH_HEAD,
    HEAD,
    LENGTH_BITS,
    LENGTH_MASK,
    MAX_TOKEN,
    PLACE,
    add_type,
    has_room,
    hash_bytes,
)
from wordgeom.runtime.jit import kernel

FILE_END, MOST_LINES = -(1 << 30), (1 << 30) - 1

# Why a kernel stopped; on NEEDS_ROOM the caller makes room and calls again, on NOT_NORMAL it
# normalises the rest of the text.
DONE, NEEDS_ROOM, TOO_LONG, NOT_NORMAL = 0, 1, 2, 3

_CAPITAL_SIGMA, _SMALL_SIGMA, _FINAL_SIGMA = 0x3A3, 0x3C3, 0x3C2
_DOT_ABOVE = 0x307


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
    read), reason to stop, line feeds from the start of the last document (or from the first token)
    to the last token, whether a document began after the first token. Returns the position in the
    text at which it stopped.
    """
    # The path of a known ASCII token is inlined: a call between kernels counts references to every
    # array it passes, which here took twice the time of the work itself. Functions that Numba
    # inlines (inline="always") took 1.7 times the time of this one.
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
