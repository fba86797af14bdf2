r"""The tokenisers: `words` (Unicode) and `whitespace` (bytes between white space).

`words` takes maximal runs of letters, marks, digits, connectors (`_`) and joiners, that is `\w` of
Unicode Technical Standard 18, Annex C; all other characters separate. `whitespace` splits at ASCII
white space and NUL bytes. `kmer` uses `whitespace` too, since `records/kmers.py` inserts spaces.
All read text that `normal_forms.py` has normalised, and can lower-case it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from wordgeom.core.types import Bytes, Int64
from wordgeom.corpus.tokens import characters, normal_tables
from wordgeom.corpus.tokens.kernels import PAIRS
from wordgeom.corpus.tokens.normal_forms import Normaliser, normaliser

AUTO, KEEP, LOWER = "auto", "keep", "lower"


@dataclass(frozen=True)
class Tokeniser:
    """Tables for `kernels.tokenise`, and what normalises its text.

    words: only characters of words are part of a token; lower: tokens become lower case.
    """

    byte_map: Bytes
    words: bool
    lower: bool
    normaliser: Normaliser | None

    @property
    def decodes(self) -> bool:
        """Whether characters beyond ASCII are looked up in `table`, where they are checked too."""
        return self.words or self.lower

    def table(self, ascii_only: bool) -> Int64:
        """Return the table of characters for a block, empty for ASCII blocks."""
        if ascii_only or not self.decodes:
            return _NO_TABLE
        return _table(self.words, self.lower, self.normaliser)


_NO_TABLE = np.empty(0, np.int64)


def case_of(tokeniser: str, case: str) -> str:
    """Return the case of tokens, keep or lower; by default, only `words` lower-cases."""
    if case != AUTO:
        return case
    return LOWER if tokeniser in ("words", AUTO) else KEEP


def tokeniser(name: str, form: str, case: str = AUTO) -> Tokeniser:
    """Return the tables of a tokeniser; auto means words, and k-mers are already separated.

    form: NFC or NFKC, to which text is normalised, or none; case: keep, lower, or auto.
    """
    words, lower = name in ("words", AUTO), case_of(name, case) == LOWER
    return Tokeniser(_byte_map(words, lower), words, lower, normaliser(form, lower=lower))


def _byte_map(words: bool, lower: bool) -> Bytes:
    byte_map = np.arange(256, dtype=np.uint8)
    separators = b"\t\n\v\f\r "
    if words:
        ascii_ = bytes(range(128))
        separators = bytes(b for b in ascii_ if not chr(b).isalnum() and b != ord("_"))
        byte_map[128:] = 0
    byte_map[list(separators)] = 0
    if lower:
        byte_map[65:91] += 32
    return byte_map


@cache
def _table(words: bool, lower: bool, normal: Normaliser | None) -> Int64:
    """(code points, then pairs) int64: see characters.py; without a normaliser, İ keeps its dot."""
    entries = characters.token_characters(words, lower, dotted=normal is None)
    if normal is not None:
        table = normal_tables.properties(normal.form, normal.lower).copy()
        table[:PAIRS] |= entries
        return table
    return entries
