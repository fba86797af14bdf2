"""The quick check: does a text change when it is normalised?"""

from __future__ import annotations

from wordgeom.core.types import Bytes, Int64
from wordgeom.corpus.tokens.character_kernels import CHECKED, changes, character_before, get_utf8
from wordgeom.runtime.jit import kernel

_AHEAD = 64  # bytes that are skipped at once where nothing needs a check
_LONGEST_WAIT = 1024  # bytes until the next look ahead where most characters need one


@kernel
def first_change(text: Bytes, start: int, leads: Bytes, table: Int64) -> int:
    """Return a position of text[start:] near which normalisation may change it, else −1.

    leads (256²) uint8: whether a character is checked whose UTF-8 begins with two bytes; table:
    see characters.py. Exact but for a character with two different marks, which may be reported
    though it does not change. The start of the text must not depend on what precedes it.
    """
    n = len(text)
    i = start
    before = -1 if start == 0 else -2  # the last character, -1 for none, -2 if not known
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
                before, wait = -2, _AHEAD
                continue
            tried = i + wait
            wait = min(2 * wait, _LONGEST_WAIT)
        byte = text[i]
        if byte < 128:
            i += 1
            before = int(byte)
            continue
        point, after = get_utf8(text, i)
        if table[point] & CHECKED:
            if before == -2:
                before = character_before(text, i)
            if changes(table, before, point):
                return i
        before = point
        i = after
    return -1
