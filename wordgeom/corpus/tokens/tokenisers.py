r"""The tokenisers: `words` (Unicode, lower case) and `whitespace` (bytes between white space).

`words` takes maximal runs of letters, marks, digits, connectors (`_`) and joiners, that is `\w` of
Unicode Technical Standard 18, Annex C, and lower-cases them; all other characters separate.
`whitespace` splits at ASCII white space and NUL bytes and changes nothing else. `kmer` uses
`whitespace` too, since `records/kmers.py` inserts spaces.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np

from wordgeom.core.types import Bytes, Int32

_WORD_CATEGORIES = frozenset(("L", "M", "N"))
_JOINERS = (0x200C, 0x200D)
_ASSIGNED = 0x34000  # no letters above this, only variation selectors
_CODE_POINTS = 0x110000


@dataclass(frozen=True)
class Tokeniser:
    """Tables for `kernels.tokenise`."""

    byte_map: Bytes
    unicode: bool

    def lower(self, ascii_only: bool) -> Int32:
        """Return the code point table for a block, empty for ASCII blocks."""
        return _lower_table() if self.unicode and not ascii_only else _NO_TABLE


_NO_TABLE = np.empty(0, np.int32)


def tokeniser(name: str) -> Tokeniser:
    """Return the tables of a tokeniser; auto means words, and k-mers are already separated."""
    return _words() if name in ("words", "auto") else _whitespace()


def _whitespace() -> Tokeniser:
    byte_map = np.arange(256, dtype=np.uint8)
    byte_map[list(b"\t\n\v\f\r ")] = 0
    return Tokeniser(byte_map, unicode=False)


def _words() -> Tokeniser:
    byte_map = np.zeros(256, np.uint8)
    for byte in range(128):
        if chr(byte).isalnum() or chr(byte) == "_":
            byte_map[byte] = ord(chr(byte).lower())
    return Tokeniser(byte_map, unicode=True)


@cache
def _lower_table() -> Int32:
    """(code points) int32: the lower case of each, 0 for a separator."""
    table = np.zeros(_CODE_POINTS, np.int32)
    for point in range(_ASSIGNED):
        char = chr(point)
        category = unicodedata.category(char)
        if category[0] in _WORD_CATEGORIES or category == "Pc":
            table[point] = ord(char.lower()[0])
    table[0xE0100:0xE01F0] = np.arange(0xE0100, 0xE01F0)  # variation selectors
    table[list(_JOINERS)] = _JOINERS
    return table
