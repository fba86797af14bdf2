"""Tables of all characters for the kernels: what each becomes in a token, and what may change it.

An entry (int64) holds, from the lowest bit: the code point that the character becomes in a token,
0 for a separator; whether it is part of a word (WORD); whether it becomes a letter with a dot above
(DOTTED); and its properties under normalisation: the canonical combining class, whether it cannot
stay (CHANGES), and its indices as the second and the first character of a pair that may change.
Row r of the pairs follows the last code point: entry `PAIRS + (r << COLUMN_BITS) + c` is 1 if the
first character r and the second c change next to each other.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

import numpy as np

from wordgeom.core.types import Int64
from wordgeom.corpus.tokens.character_kernels import DOTTED, PAIRS, WORD

JOINERS = (0x200C, 0x200D)
_ASSIGNED = 0x34000  # no letters above this, only variation selectors
_SELECTORS = slice(0xE0100, 0xE01F0)
_CAPITAL_I_DOT = 0x130
# Scripts whose characters neither change nor have case; Hangul syllables are treated apart.
_UNCHANGING = ((0x3400, 0xA000), (0xAC00, 0xF900), (0x17000, 0x1B000), (0x20000, 0x2F800))
_LAST = 0x2FA20
_ALPHANUMERIC = re.compile(r"\w+")
_JOINING = frozenset(("Mn", "Mc", "Me", "Pc"))  # categories, beside letters and digits


@cache
def changeable() -> Int64:
    """Return the code points that may change, combine or have case."""
    ends = [0, *(point for pair in _UNCHANGING for point in pair), _LAST]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return np.concatenate([np.arange(begin, end) for begin, end in pairs])


def as_text(points: Int64) -> str:
    """Return code points as a string."""
    return points.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass")


@cache
def lower_case() -> Int64:
    """(code points) int64: the first character of the lower case of each."""
    points = np.arange(PAIRS)
    # Here Σ follows an unassigned character; only the lower case of İ is longer.
    lower = as_text(changeable()).replace(chr(_CAPITAL_I_DOT), "i").lower()
    points[changeable()] = np.frombuffer(lower.encode("utf-32-le", "surrogatepass"), "<u4")
    return points


@cache
def _word_characters() -> Int64:
    """Return the code points of letters, marks, digits, connectors and joiners."""
    chosen = np.zeros(PAIRS, bool)
    for run in _ALPHANUMERIC.finditer(as_text(np.arange(_ASSIGNED))):
        chosen[run.start() : run.end()] = True
    rest = changeable()[~chosen[changeable()]]
    categories = map(unicodedata.category, as_text(rest))
    chosen[rest[[category in _JOINING for category in categories]]] = True
    chosen[list(JOINERS)] = chosen[_SELECTORS] = True
    return np.flatnonzero(chosen)


def token_characters(words: bool, lower: bool, dotted: bool) -> Int64:
    """(code points) int64: the part of the entries on tokens.

    words: only word characters are part of a token, not all beyond ASCII; lower: they become lower
    case; dotted: İ keeps its dot as a mark, as in Unicode.
    """
    points = lower_case() if lower else np.arange(PAIRS)
    members = _word_characters()
    entries = np.zeros(PAIRS, np.int64) if words else points.copy()
    entries[members] = points[members] | WORD
    if lower and dotted:
        entries[_CAPITAL_I_DOT] |= DOTTED
    return entries
