"""Grapheme clusters: what readers take for one character (Unicode Standard Annex 29, 3.1.1).

A letter with its marks is one cluster, and so are a Hangul syllable of jamo, a flag and a sequence
of emoji joined by U+200D. The classes of characters follow from their general categories, because
Python has no table of them: marks extend a cluster, as do the vowels AM of Thai and Lao, which are
letters, and letters that prefix a cluster are not joined.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

from wordgeom.subwords.units.unit import Cut, cut_by_lists

_EXTEND, _JOINER, _FLAG, _PICTURE, _OTHER = "extend", "joiner", "flag", "picture", "other"
_LEADING, _VOWEL, _TRAILING, _OPEN, _CLOSED = "L", "V", "T", "LV", "LVT"
_NON_JOINER, _ZERO_WIDTH_JOINER = 0x200C, 0x200D
_MARKS = ("Mn", "Mc", "Me")
_SYLLABLE, _SYLLABLES, _WITH_VOWEL = 0xAC00, 11172, 28
# First and last code points of other classes.
_RANGES = (
    (0x1100, 0x115F, _LEADING), (0xA960, 0xA97C, _LEADING), (0x1160, 0x11A7, _VOWEL),
    (0xD7B0, 0xD7C6, _VOWEL), (0x11A8, 0x11FF, _TRAILING), (0xD7CB, 0xD7FB, _TRAILING),
    (0x1F1E6, 0x1F1FF, _FLAG), (0x1F3FB, 0x1F3FF, _EXTEND), (0xFF9E, 0xFF9F, _EXTEND),
    (0xE0020, 0xE007F, _EXTEND), (0x0E33, 0x0E33, _EXTEND), (0x0EB3, 0x0EB3, _EXTEND),
)  # fmt: skip
# Rules GB6 to GB8: what may follow a class of Hangul letters.
_HANGUL = {
    _LEADING: (_LEADING, _VOWEL, _OPEN, _CLOSED),
    _OPEN: (_VOWEL, _TRAILING), _VOWEL: (_VOWEL, _TRAILING),
    _CLOSED: (_TRAILING,), _TRAILING: (_TRAILING,),
}  # fmt: skip


class Graphemes:
    """Cuts words into grapheme clusters."""

    def cut(self, words: Sequence[str]) -> Cut:
        """Return words cut into grapheme clusters."""
        return cut_by_lists([clusters(word) for word in words])


def clusters(word: str) -> list[str]:
    """Return the grapheme clusters of a word."""
    if word.isascii():
        return list(word)
    breaks = [0, *_breaks(word), len(word)]
    return [word[a:b] for a, b in pairwise(breaks) if a < b]


def _breaks(word: str) -> Iterator[int]:
    """Yield where a cluster begins, the first one apart."""
    before, flags, picture = _class(word[0]), int(_class(word[0]) == _FLAG), False
    picture = before == _PICTURE
    for k in range(1, len(word)):
        kind = _class(word[k])
        pair = kind == _FLAG and flags % 2 == 1
        joined = kind == _PICTURE and before == _JOINER and picture
        follows = kind in (_EXTEND, _JOINER) or kind in _HANGUL.get(before, ())
        if not (pair or joined or follows):
            yield k
        flags = flags + 1 if kind == _FLAG else 0
        picture = kind == _PICTURE or (picture and kind in (_EXTEND, _JOINER))
        before = kind


@cache
def _class(character: str) -> str:
    point = ord(character)
    if point == _ZERO_WIDTH_JOINER:
        return _JOINER
    for first, last, kind in _RANGES:
        if first <= point <= last:
            return kind
    if _SYLLABLE <= point < _SYLLABLE + _SYLLABLES:
        return _CLOSED if (point - _SYLLABLE) % _WITH_VOWEL else _OPEN
    category = unicodedata.category(character)
    if point == _NON_JOINER or category in _MARKS:
        return _EXTEND
    return _PICTURE if category == "So" else _OTHER
