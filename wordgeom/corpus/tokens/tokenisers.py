r"""The tokenisers: `words` (Unicode, lower case) and `whitespace` (bytes between white space).

`words` takes maximal runs of letters, marks, digits, connectors (`_`) and joiners, that is `\w` of
Unicode Technical Standard 18, Annex C, and lower-cases them; all other characters separate.
`whitespace` splits at ASCII white space and NUL bytes. `kmer` uses `whitespace` too, since
`records/kmers.py` inserts spaces. Both read text that `normal_forms.py` has normalised.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np

from wordgeom.core.types import Bytes, Int32
from wordgeom.corpus.tokens.normal_forms import Normaliser, normaliser

_WORD_CATEGORIES = frozenset(("L", "M", "N"))
_JOINERS = (0x200C, 0x200D)
_ASSIGNED = 0x34000  # no letters above this, only variation selectors
_CODE_POINTS = 0x110000
_CAPITAL_I_DOT = 0x130


@dataclass(frozen=True)
class Tokeniser:
    """Tables for `kernels.tokenise`, and what normalises its text."""

    byte_map: Bytes
    unicode: bool
    normaliser: Normaliser | None

    def lower(self, ascii_only: bool) -> Int32:
        """Return the code point table for a block, empty for ASCII blocks."""
        if ascii_only or not self.unicode:
            return _NO_TABLE
        return _lower_table(dotted=self.normaliser is None)


_NO_TABLE = np.empty(0, np.int32)


def tokeniser(name: str, form: str) -> Tokeniser:
    """Return the tables of a tokeniser; auto means words, and k-mers are already separated.

    form: NFC or NFKC, to which text is normalised, or none.
    """
    of_words = name in ("words", "auto")
    byte_map = _words() if of_words else _whitespace()
    return Tokeniser(byte_map, of_words, normaliser(form, lower=of_words))


def _whitespace() -> Bytes:
    byte_map = np.arange(256, dtype=np.uint8)
    byte_map[list(b"\t\n\v\f\r ")] = 0
    return byte_map


def _words() -> Bytes:
    byte_map = np.zeros(256, np.uint8)
    for byte in range(128):
        if chr(byte).isalnum() or chr(byte) == "_":
            byte_map[byte] = ord(chr(byte).lower())
    return byte_map


@cache
def _lower_table(dotted: bool) -> Int32:
    """(code points) int32: the lower case of each, 0 for a separator.

    dotted: İ keeps its dot as a mark, as in Unicode, which a negative letter stands for.
    """
    table = np.zeros(_CODE_POINTS, np.int32)
    for point in range(_ASSIGNED):
        char = chr(point)
        category = unicodedata.category(char)
        if category[0] in _WORD_CATEGORIES or category == "Pc":
            table[point] = ord(char.lower()[0])
    table[0xE0100:0xE01F0] = np.arange(0xE0100, 0xE01F0)  # variation selectors
    table[list(_JOINERS)] = _JOINERS
    if dotted:
        table[_CAPITAL_I_DOT] = -ord("i")
    return table
