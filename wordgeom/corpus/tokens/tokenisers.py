r"""What a token is: `words` (Unicode, lower-case) and `whitespace` (bytes between white space).

`words` takes the maximal runs of letters, marks, digits, connectors (`_`) and joiners, that is
`\w` of Unicode Technical Standard 18, Annex C, and lower-cases them; everything else separates.
`whitespace` takes what stands between ASCII white space or NUL bytes, as it is. `kmer` is
`whitespace` too: `kmers.py` has put the blanks.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from functools import cache

import numpy as np

from wordgeom.core.types import Bytes, Int32

_WORD_CATEGORIES = frozenset(("L", "M", "N"))
_JOINERS = (0x200C, 0x200D)
_ASSIGNED = 0x34000  # beyond it lie no letters, only the variation selectors below
_CODE_POINTS = 0x110000


@dataclass(frozen=True)
class Tokeniser:
    """Tables for the kernel: see corpus.kernels.tokenise."""

    byte_map: Bytes
    unicode: bool

    def lower(self, ascii_only: bool) -> Int32:
        """Return the table of code points that a block needs: none where it is all ASCII."""
        return _lower_table() if self.unicode and not ascii_only else _NO_TABLE


_NO_TABLE = np.empty(0, np.int32)


def tokeniser(name: str) -> Tokeniser:
    """Return the tables of a tokeniser; auto, undecided, is words, and k-mers come cut."""
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
    """(code points) int32: what each becomes in a word, 0 where it separates."""
    table = np.zeros(_CODE_POINTS, np.int32)
    for point in range(_ASSIGNED):
        char = chr(point)
        category = unicodedata.category(char)
        if category[0] in _WORD_CATEGORIES or category == "Pc":
            table[point] = ord(char.lower()[0])
    table[0xE0100:0xE01F0] = np.arange(0xE0100, 0xE01F0)  # variation selectors
    table[list(_JOINERS)] = _JOINERS
    return table
