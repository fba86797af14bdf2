r"""The tokenisers: `words` (Unicode) and `whitespace` (bytes between white space).

`words` takes maximal runs of letters, marks, digits, connectors (`_`) and joiners, that is `\w` of
Unicode Technical Standard 18, Annex C; all other characters separate. `whitespace` splits at ASCII
white space and NUL bytes. `kmer` uses `whitespace` too, since `records/kmers.py` inserts spaces. So
does a pattern for tokens, whose matches are separated by spaces first. All read text that
`normal_forms.py` has normalised, and can lower-case it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from wordgeom.core.types import Bytes, Int64
from wordgeom.corpus.tokens import characters, normal_tables
from wordgeom.corpus.tokens.character_kernels import PAIRS
from wordgeom.corpus.tokens.normal_forms import COMPOSING, Normaliser, normaliser
from wordgeom.corpus.tokens.token_pattern import matches

_NO_TABLE = np.empty(0, np.int64)


@dataclass(frozen=True)
class Tokeniser:
    """Tables for `kernels.tokenise`, and what prepares and normalises its text.

    words: only characters of words are part of a token; lower: tokens become lower case; strip:
    removes markup; pattern: its matches are the tokens.
    """

    byte_map: Bytes
    words: bool
    lower: bool
    normaliser: Normaliser | None
    strip: Callable[[str], str] | None = None
    pattern: re.Pattern[str] | None = None

    @property
    def decodes(self) -> bool:
        """Whether characters beyond ASCII are looked up in `table`, where they are checked too."""
        return self.words or self.lower

    @property
    def separators(self) -> bytes:
        """The bytes at which the text may be cut into blocks."""
        if self.pattern is not None:
            return b"\n"
        if self.strip is not None:
            return b" \n"
        # A block must not end between a character and a mark that changes it.
        return bytes(k for k in range(128) if self.byte_map[k] == 0 and k not in COMPOSING)

    def table(self, ascii_only: bool) -> Int64:
        """Return the table of characters for a block, empty for ASCII blocks."""
        if ascii_only or not self.decodes:
            return _NO_TABLE
        return _table(self.words, self.lower, self.normaliser)

    def prepared(self, text: bytes) -> bytes:
        """Return a text without markup; of a pattern, its matches in the normalised text."""
        if self.strip is not None:
            text = self.strip(text.decode("utf-8")).encode("utf-8")
        if self.pattern is None:
            return text
        return matches(self.pattern, self.normalised(text).decode("utf-8")).encode("utf-8")

    def normalised(self, text: bytes) -> bytes:
        """Return a text normalised; it must not depend on what precedes or follows it."""
        return text if self.normaliser is None else self.normaliser.encoded(text)


def tokeniser(name: str, form: str, *, lower: bool) -> Tokeniser:
    """Return the tables of a tokeniser; auto means words, and k-mers are already separated.

    form: NFC or NFKC, to which text is normalised, or none; lower: lower-case tokens.
    """
    words = name in ("words", "auto")
    return Tokeniser(_byte_map(words, lower), words, lower, normaliser(form, lower=lower))


def _byte_map(words: bool, lower: bool) -> Bytes:
    byte_map = np.arange(256, dtype=np.uint8)
    separators = b"\t\n\v\f\r "
    if words:
        ascii_ = bytes(range(128))
        separators = bytes(b for b in ascii_ if not chr(b).isalnum() and b != ord("_"))
    byte_map[list(separators)] = 0
    if words or lower:
        byte_map[128:] = 0  # the table of characters decides
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
