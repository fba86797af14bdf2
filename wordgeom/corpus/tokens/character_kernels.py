"""The characters of a text: UTF-8, what a table says of each, and whether it may change."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Bytes, Int64
from wordgeom.runtime.jit import kernel

# Parts of an entry of a table of characters, see characters.py.
POINT = (1 << 21) - 1
WORD, DOTTED = 1 << 21, 1 << 22
ORDER_BIT, COLUMN_BIT, COLUMN_BITS, ROW_BIT = 23, 32, 7, 39
ORDER_MASK, COLUMN_MASK = 0xFF, (1 << COLUMN_BITS) - 1
CHANGES = 1 << 31
CHECKED = (1 << ROW_BIT) - (1 << ORDER_BIT)  # of characters that need a check
PAIRS = 0x110000


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
