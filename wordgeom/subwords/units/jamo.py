"""Hangul jamo: syllables are taken apart into their two or three letters (Unicode, 3.12).

Words of other scripts are cut into code points. In Korean, endings and particles are shorter than a
syllable, and n-grams of jamo find them (Park et al. 2018).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from unicodedata import normalize

from wordgeom.subwords.units.unit import Cut, cut_at_each

_SYLLABLES = re.compile("[\uac00-\ud7a3]+")
_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff]")


class Jamo:
    """Cuts words into jamo."""

    def cut(self, words: Sequence[str]) -> Cut:
        """Return words cut into jamo and other code points."""
        return cut_at_each([word if word.isascii() else _apart(word) for word in words])


def has_syllables(word: str) -> bool:
    """Return whether a word has a Hangul syllable, composed or in jamo."""
    return not word.isascii() and _HANGUL.search(word) is not None


def _apart(word: str) -> str:
    return _SYLLABLES.sub(lambda run: normalize("NFD", run[0]), word)
