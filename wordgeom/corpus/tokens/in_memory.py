"""Tokenise a string exactly as the tokeniser `words` does files, normalised to NFC.

For evaluation texts: no lexicon and no ids. There is no limit on the length of a token.
"""

from __future__ import annotations

import re
from functools import cache

from wordgeom.corpus.tokens.character_kernels import POINT
from wordgeom.corpus.tokens.normal_forms import Normaliser
from wordgeom.corpus.tokens.tokenisers import tokeniser

_CAPITAL_SIGMA = "Σ"
_NORMAL = Normaliser("NFC", lower=True)
_LAST_SIGMA = re.compile(f"(?<=[^ ]){_CAPITAL_SIGMA}(?![^ ])")


def words(text: str) -> list[str]:
    """Return the tokens of a text in order, lower-cased."""
    lowered = (text if text.isascii() else _NORMAL.text(text)).translate(_lower())
    if _CAPITAL_SIGMA in lowered:  # its lower case depends on its position in the word
        lowered = _LAST_SIGMA.sub("ς", lowered).replace(_CAPITAL_SIGMA, "σ")
    return lowered.split()


class _Lower(dict[int, str]):
    """Maps code points to lower case, or to a space; filled from the tokeniser's tables on use."""

    def __init__(self) -> None:
        tables = tokeniser("words", _NORMAL.form, lower=True)
        self._ascii, self._rest = tables.byte_map, tables.table(ascii_only=False)
        self[ord(_CAPITAL_SIGMA)] = _CAPITAL_SIGMA

    def __missing__(self, point: int) -> str:
        small = self._ascii[point] if point < 128 else self._rest[point] & POINT
        self[point] = chr(small) if small else " "
        return self[point]


@cache
def _lower() -> _Lower:
    return _Lower()
