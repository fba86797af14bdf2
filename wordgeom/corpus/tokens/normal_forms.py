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
from functools import cache
from typing import Literal

import numpy as np

from wordgeom.core.types import Array, Bytes, Int32
from wordgeom.corpus.tokens import normal_kernels

NONE = "none"
GROWTH = 16  # normalised text takes less than this many times the bytes
COMPOSING = b"<=>"  # the ASCII separators that a following mark can change
Form = Literal["NFC", "NFKC"]

_CODE_POINTS = 0x110000
# Scripts whose characters neither change nor have case; Hangul syllables are treated apart.
_UNCHANGING = ((0x3400, 0xA000), (0xAC00, 0xF900), (0x17000, 0x1B000), (0x20000, 0x2F800))
_LAST = 0x2FA20
_STRETCH = 1 << 12  # bytes that are changed at once
_BLANK = re.compile(rb"[ \t\r\n]")
_DROPPED = "\u00ad\ufeff"
_ZERO_WIDTH_SPACE = "\u200b"
_INVISIBLE = re.compile(f"[{_DROPPED}{_ZERO_WIDTH_SPACE}]+")
# Thai, Lao, Myanmar, Khmer, Tai Le, New Tai Lue, Tai Tham, Balinese, Javanese, Tai Viet.
_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1950-\u1aaf\u1b00-\u1b7f\ua980-\uaadf"
_BETWEEN_WORDS = re.compile(
    f"(?<=[{_UNSPACED}]){_ZERO_WIDTH_SPACE}|{_ZERO_WIDTH_SPACE}(?=[{_UNSPACED}])"
)
# Hangul: a first consonant composes with a vowel, and a syllable of both with a final consonant.
_LEADS, _VOWELS = list(map(chr, range(0x1100, 0x1113))), list(map(chr, range(0x1161, 0x1176)))
_SYLLABLES = list(map(chr, range(0xAC00, 0xD7A4, 28)))
_FINALS = list(map(chr, range(0x11A8, 0x11C3)))


@dataclass(frozen=True)
class Normaliser:
    """Normalises text to a form; lower: of text that will be lower-cased."""

    form: Form
    lower: bool

    def text(self, text: str) -> str:
        """Return a text normalised."""
        composed = self.word(text)
        return _capitals().sub(_recomposed, composed) if self.lower else composed

    def word(self, word: str) -> str:
        """Return a word from the user normalised, in its own case."""
        return unicodedata.normalize(self.form, _without_invisible(word))

    def encoded(self, text: bytes) -> bytes:
        """Return UTF-8 text normalised; it must not depend on what precedes or follows it."""
        tables = _tables(self.form, self.lower)
        view = np.frombuffer(text, np.uint8)
        parts: list[bytes] = []
        done = 0
        while (at := normal_kernels.first_change(view, done, *tables)) >= 0:
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
    shown = text.translate(dict.fromkeys(map(ord, _DROPPED)))
    if _ZERO_WIDTH_SPACE not in shown:
        return shown
    single = re.sub(f"{_ZERO_WIDTH_SPACE}+", _ZERO_WIDTH_SPACE, shown)
    return _BETWEEN_WORDS.sub(" ", single).replace(_ZERO_WIDTH_SPACE, "")


def _recomposed(capital: re.Match[str]) -> str:
    letter, marks = capital[0][0], capital[0][1:]
    return unicodedata.normalize("NFC", letter.lower()[0] + marks)


@cache
def _characters() -> list[str]:
    """The characters that may change, combine or have case."""
    ends = [0, *(point for pair in _UNCHANGING for point in pair), _LAST]
    return [
        chr(p) for begin, end in zip(ends[::2], ends[1::2], strict=True) for p in range(begin, end)
    ]


@cache
def _compositions() -> dict[tuple[str, str], str]:
    """The characters that two others compose to, except Hangul syllables."""
    composed = {}
    for char in _characters():
        parts = unicodedata.decomposition(char).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            first, second = (chr(int(part, 16)) for part in parts)
            if unicodedata.normalize("NFC", first + second) == char:
                composed[first, second] = char
    return composed


@cache
def _capitals() -> re.Pattern[str]:
    """Capital letters that a mark may compose with once they are lower-cased, and their marks."""
    starts = {first for first, _ in _compositions()} | set(_compositions().values())
    capitals = [c for c in _characters() if c.lower() != c and c.lower()[0] in starts]
    marks = [c for c in _characters() if unicodedata.combining(c)]
    return re.compile(f"[{''.join(capitals)}][{''.join(marks)}]+")


@cache
def _tables(form: Form, lower: bool) -> tuple[Bytes, Bytes, Int32, Array]:
    """The tables of `normal_kernels.first_change`; their last two rows and columns are Hangul."""
    composed = _compositions()
    firsts = {first for first, _ in composed} | set(composed.values())
    if lower:
        firsts |= {c for c in _characters() if c.lower() != c and c.lower()[0] in firsts}
    rows = [[c] for c in sorted(firsts)] + [_LEADS, _SYLLABLES]
    columns = [[c] for c in sorted({second for _, second in composed})] + [_VOWELS, _FINALS]
    marks = _marks(form, rows, columns)
    checked = (marks & normal_kernels.CHECKED != 0).astype(np.uint8)
    pairs = np.zeros((len(rows) + 1, len(columns) + 1), bool)  # index 0: no pair changes
    pairs[-2, -2] = pairs[-1, -1] = True
    seconds = [second for (second,) in columns[:-2]]
    for row, (first,) in enumerate(rows[:-2], 1):
        for start in {first, first.lower()[0] if lower else first}:
            pairs[row, 1:-2] |= _changing(start, seconds, form)
    return _leads(checked), checked, marks, pairs


def _leads(checked: Bytes) -> Bytes:
    """(256²) uint8: whether a checked character begins with two bytes in UTF-8."""
    leads = np.zeros(1 << 16, np.uint8)
    encoded = [chr(point).encode("utf-8") for point in np.flatnonzero(checked).tolist()]
    leads[[char[0] << 8 | char[1] for char in encoded]] = 1
    return leads


def _changing(first: str, seconds: list[str], form: Form) -> list[bool]:
    """Return whether a character changes with each of the others behind it."""
    pairs = [first + second for second in seconds]
    normal = unicodedata.normalize(form, "\n".join(pairs)).split("\n")
    return [a != b for a, b in zip(pairs, normal, strict=True)]


def _marks(form: Form, rows: list[list[str]], columns: list[list[str]]) -> Int32:
    """(code points) int32: see first_change; rows and columns of the pairs: characters of each."""
    chars = _characters()
    marks = np.zeros(_CODE_POINTS, np.int32)
    marks[list(map(ord, chars))] = [unicodedata.combining(c) for c in chars]
    changing = [c for c in chars if not unicodedata.is_normalized(form, c)]
    marks[[*map(ord, changing), *map(ord, _DROPPED + _ZERO_WIDTH_SPACE)]] |= normal_kernels.CHANGES
    for bit, groups in ((normal_kernels.FIRST_BIT, rows), (normal_kernels.SECOND_BIT, columns)):
        for index, group in enumerate(groups, 1):
            marks[list(map(ord, group))] |= index << bit
    return marks
