"""The properties of characters under normalisation, as entries of the tables in `characters.py`."""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from typing import Literal

import numpy as np

from wordgeom.core.types import Bytes, Int64
from wordgeom.corpus.tokens import character_kernels as kernels
from wordgeom.corpus.tokens import characters
from wordgeom.corpus.tokens.characters import as_text, changeable

Form = Literal["NFC", "NFKC"]

# Soft hyphen, byte order mark, word joiner, and the selectors of text and emoji presentation, which
# beside an emoji would be words that nobody sees.
DROPPED, ZERO_WIDTH_SPACE = "\u00ad\ufeff\u2060\ufe0e\ufe0f", "\u200b"
# Hangul: a first consonant composes with a vowel, and a syllable of both with a final consonant.
_LEADS, _VOWELS = np.arange(0x1100, 0x1113), np.arange(0x1161, 0x1176)
_SYLLABLES, _FINALS = np.arange(0xAC00, 0xD7A4, 28), np.arange(0x11A8, 0x11C3)


@cache
def capitals() -> re.Pattern[str]:
    """Return what matches capitals that a mark may compose with in lower case, and their marks."""
    marks = [c for c in as_text(changeable()) if unicodedata.combining(c)]
    return re.compile(f"[{''.join(sorted(_capitals()))}][{''.join(marks)}]+")


@cache
def properties(form: Form, lower: bool) -> Int64:
    """(code points, then pairs) int64: the entries of characters.py without those on tokens.

    form: NFC or NFKC; lower: of text that will be lower-cased.
    """
    starts, seconds = _starts(), sorted({second for _, second in _compositions()})
    if lower:
        starts |= _capitals()
    firsts = sorted(starts)
    rows, columns = len(firsts) + 2, len(seconds) + 2
    entries = np.zeros(kernels.PAIRS + ((rows + 1) << kernels.COLUMN_BITS), np.int64)
    text = as_text(changeable())
    orders = np.fromiter(map(unicodedata.combining, text), np.int64, len(text))
    entries[changeable()] = orders << kernels.ORDER_BIT
    changing = [ord(c) for c in text if not unicodedata.is_normalized(form, c)]
    entries[[*changing, *map(ord, DROPPED + ZERO_WIDTH_SPACE)]] |= kernels.CHANGES
    for bit, chars, groups in (
        (kernels.ROW_BIT, firsts, (_LEADS, _SYLLABLES)),
        (kernels.COLUMN_BIT, seconds, (_VOWELS, _FINALS)),
    ):
        entries[[ord(c) for c in chars]] |= np.arange(1, len(chars) + 1) << bit
        for index, group in enumerate(groups, len(chars) + 1):
            entries[group] |= index << bit
    # Row and column 0 are characters that change with none; the last two are Hangul.
    pairs = entries[kernels.PAIRS :].reshape(rows + 1, -1)
    row, column = ({c: k for k, c in enumerate(chars, 1)} for chars in (firsts, seconds))
    for first, second in _changing_pairs(form):
        pairs[row[first], column[second]] = 1
    if lower:
        cased = [(row[c], row[c.lower()[0]]) for c in firsts if c.lower()[0] in starts]
        capital, small = np.array(cased).T
        pairs[capital] |= pairs[small]
    pairs[-2, columns - 1] = pairs[-1, columns] = 1
    return entries


@cache
def leads(form: Form, lower: bool) -> Bytes:
    """(256²) uint8: whether a character that is checked begins with two bytes in UTF-8."""
    table = np.zeros(1 << 16, np.uint8)
    some = changeable()
    checked = some[properties(form, lower)[some] & kernels.CHECKED != 0]
    encoded = [char.encode("utf-8") for char in as_text(checked)]
    table[[char[0] << 8 | char[1] for char in encoded]] = 1
    return table


def _changing_pairs(form: Form) -> list[tuple[str, str]]:
    """Return the pairs of characters that change next to each other, except Hangul."""
    followers: dict[str, list[str]] = {}
    for first, second in _compositions():
        followers.setdefault(first, []).append(second)
    begins = {composed: first for (first, _), composed in _compositions().items()}
    pairs = []
    for first in _starts():
        begin: str | None = first
        while begin is not None:  # ạ and a circumflex change, since â exists
            pairs += [(first, second) for second in followers.get(begin, ())]
            begin = begins.get(begin)
    normal = unicodedata.normalize(form, "\n".join(map("".join, pairs))).split("\n")
    return [pair for pair, made in zip(pairs, normal, strict=True) if "".join(pair) != made]


@cache
def _compositions() -> dict[tuple[str, str], str]:
    """The characters that two others compose to, except Hangul syllables."""
    composed = {}
    for char in as_text(changeable()):
        parts = unicodedata.decomposition(char).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            first, second = (chr(int(part, 16)) for part in parts)
            if unicodedata.normalize("NFC", first + second) == char:
                composed[first, second] = char
    return composed


def _starts() -> set[str]:
    return {first for first, _ in _compositions()} | set(_compositions().values())


def _capitals() -> set[str]:
    """Return the capitals whose lower case composes with a mark."""
    starts, lower = _starts(), characters.lower_case()[changeable()]
    pairs = zip(as_text(changeable()), as_text(lower), strict=True)
    return {c for c, small in pairs if c != small and small in starts}
