"""Normalised text: canonical (NFC) or compatibility (NFKC) composition, without invisible signs.

The soft hyphen, the byte order mark and the zero-width space are dropped, except that a zero-width
space separates words beside a letter of a script that is written without spaces, such as Khmer.
Then the text is normalised. If it will be lower-cased, capital letters with marks that have a
composed form in lower case only, such as ẖ, take that form, so that lower-casing leaves the text
normalised.

Most text is normalised already. A kernel finds the places where it may not be, and only the text
around them is changed.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

import numpy as np

from wordgeom.corpus.tokens import normal_kernels, normal_tables
from wordgeom.corpus.tokens.normal_tables import DROPPED, ZERO_WIDTH_SPACE, Form

NONE = "none"
GROWTH = 32  # normalised text, even with a space behind each character, is less times as long
COMPOSING = b"<=>"  # the ASCII separators that a following mark can change

_STRETCH = 1 << 12  # bytes that are changed at once
_BLANK = re.compile(rb"[ \t\r\n]")
_INVISIBLE = re.compile(f"[{DROPPED}{ZERO_WIDTH_SPACE}]+")
# Thai, Lao, Myanmar, Khmer, Tai Le, New Tai Lue, Tai Tham, Balinese, Javanese, Tai Viet.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u1aaf\u1b00-\u1b7f\ua980-\uaadf"
_BETWEEN_WORDS = re.compile(
    f"(?<=[{_UNSPACED}]){ZERO_WIDTH_SPACE}|{ZERO_WIDTH_SPACE}(?=[{_UNSPACED}])"
)


@dataclass(frozen=True)
class Normaliser:
    """Normalises text to a form; lower: of text that will be lower-cased."""

    form: Form
    lower: bool

    def text(self, text: str) -> str:
        """Return a text normalised."""
        composed = self.word(text)
        return normal_tables.capitals().sub(_recomposed, composed) if self.lower else composed

    def word(self, word: str) -> str:
        """Return a word from the user normalised, in its own case."""
        return unicodedata.normalize(self.form, _without_invisible(word))

    def encoded(self, text: bytes) -> bytes:
        """Return UTF-8 text normalised; it must not depend on what precedes or follows it."""
        leads = normal_tables.leads(self.form, self.lower)
        table = normal_tables.properties(self.form, self.lower)
        view = np.frombuffer(text, np.uint8)
        parts: list[bytes] = []
        done = 0
        while (at := normal_kernels.first_change(view, done, leads, table)) >= 0:
            begin = max(text.rfind(b" ", done, at), text.rfind(b"\n", done, at), done - 1) + 1
            blank = _BLANK.search(text, at + _STRETCH)
            end = blank.end() if blank else len(text)
            parts += [text[done:begin], self.text(text[begin:end].decode("utf-8")).encode("utf-8")]
            done = end
        return b"".join([*parts, text[done:]]) if parts else text


def normaliser(form: str, *, lower: bool) -> Normaliser | None:
    """Return the normaliser of an option, None for `none`."""
    return None if form == NONE else Normaliser("NFKC" if form == "NFKC" else "NFC", lower)


def _without_invisible(text: str) -> str:
    if not _INVISIBLE.search(text):
        return text
    shown = text.translate(dict.fromkeys(map(ord, DROPPED)))
    if ZERO_WIDTH_SPACE not in shown:
        return shown
    single = re.sub(f"{ZERO_WIDTH_SPACE}+", ZERO_WIDTH_SPACE, shown)
    return _BETWEEN_WORDS.sub(" ", single).replace(ZERO_WIDTH_SPACE, "")


def _recomposed(capital: re.Match[str]) -> str:
    letter, marks = capital[0][0], capital[0][1:]
    return unicodedata.normalize("NFC", letter.lower()[0] + marks)
