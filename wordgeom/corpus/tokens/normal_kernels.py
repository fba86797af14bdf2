"""The quick check: does a text change when it is normalised?"""

from __future__ import annotations

from wordgeom.core.types import Array, Bytes, Int32
from wordgeom.corpus.tokens.kernels import get_utf8
from wordgeom.runtime.jit import kernel

# Parts of an entry of `marks`, see first_change.
ORDER_MASK, CHANGES, SECOND_BIT, SECOND_MASK, FIRST_BIT = 0xFF, 0x100, 9, 0x7F, 16
_RUN = 16  # bytes of ASCII checked at once


@kernel
def first_change(text: Bytes, start: int, marks: Int32, pairs: Array) -> int:
    """Return a position of text[start:] near which normalisation may change it, else −1.

    marks (code points) int32: the combining class, CHANGES for a character that cannot stay, and
    the indices in `pairs` as its second and its first character. pairs: bool, whether two adjacent
    characters change. Exact but for a character with two different marks, which may be reported
    though it does not change. text[start] must not depend on what precedes it.
    """
    n = len(text)
    i = start
    before = 0  # the entry of the last character of combining class 0
    last = 0  # the combining class of the last character
    while i < n:
        if text[i] < 128:
            i += 1
            while i + _RUN <= n:
                high = 0
                for k in range(_RUN):
                    high |= text[i + k]
                if high >= 128:
                    break
                i += _RUN
            while i < n and text[i] < 128:
                i += 1
            before, last = marks[text[i - 1]], 0
            continue
        point, after = get_utf8(text, i)
        found = marks[point]
        if found & CHANGES:
            return i
        order = found & ORDER_MASK
        second = (found >> SECOND_BIT) & SECOND_MASK
        if 0 < order < last:  # out of order
            return i
        if second and last == 0 and pairs[before >> FIRST_BIT, second]:
            return i
        if second and 0 < last < order:  # it may compose with the character before the last mark
            return i
        if order == 0:
            before = found
        last = order
        i = after
    return -1
