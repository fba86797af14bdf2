"""The quick check: does a text change when it is normalised?"""

from __future__ import annotations

from wordgeom.core.types import Array, Bytes, Int32
from wordgeom.corpus.tokens.kernels import get_utf8
from wordgeom.runtime.jit import kernel

# Parts of an entry of `marks`, see first_change.
ORDER_MASK, CHANGES, SECOND_BIT, SECOND_MASK, FIRST_BIT = 0xFF, 0x100, 9, 0x7F, 16
CHECKED = (1 << FIRST_BIT) - 1  # parts that a character needs to be checked
_AHEAD = 64  # bytes that are skipped at once where nothing needs a check
_LONGEST_WAIT = 1024  # bytes until the next look ahead where most characters need one


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
def first_change(
    text: Bytes, start: int, leads: Bytes, checked: Bytes, marks: Int32, pairs: Array,
) -> int:  # fmt: skip
    """Return a position of text[start:] near which normalisation may change it, else −1.

    leads (256²) uint8: whether a character is checked whose UTF-8 begins with two bytes; checked
    (code points) uint8: whether CHECKED parts of its entry in `marks` are set; marks (code points)
    int32: the combining class, CHANGES for a character that cannot stay, and the indices in `pairs`
    as its second and its first character; pairs: bool, whether two adjacent characters change.
    Exact but for a character with two different marks, which may be reported though it does not
    change. The start of the text must not depend on what precedes it.
    """
    n = len(text)
    i = start
    last = 0  # the combining class of the last character
    before = -1  # the last character, if known
    tried = start  # where to look ahead next
    wait = _AHEAD
    while i < n:
        if i >= tried and i + _AHEAD < n:  # without branches, several times as fast
            high = 0
            for k in range(_AHEAD):
                high |= text[i + k]
            found = 0
            if high >= 128:
                for k in range(_AHEAD):
                    found |= leads[(int(text[i + k]) << 8) | text[i + k + 1]]
            if not found:
                i += _AHEAD
                while i < n and text[i] & 0xC0 == 0x80:
                    i += 1
                last, before, wait = 0, -1, _AHEAD
                continue
            tried = i + wait
            wait = min(2 * wait, _LONGEST_WAIT)
        byte = text[i]
        if byte < 128:
            i += 1
            last, before = 0, int(byte)
            continue
        point, after = get_utf8(text, i)
        if not checked[point]:
            i = after
            last, before = 0, point
            continue
        found = marks[point]
        if found & CHANGES:
            return i
        order = found & ORDER_MASK
        second = (found >> SECOND_BIT) & SECOND_MASK
        if 0 < order < last:  # out of order
            return i
        if second and 0 < last < order:  # it may compose with the character before the last mark
            return i
        if second and last == 0 and i > start:
            if before < 0:
                before = character_before(text, i)
            if pairs[marks[before] >> FIRST_BIT, second]:
                return i
        last, before = order, point
        i = after
    return -1
