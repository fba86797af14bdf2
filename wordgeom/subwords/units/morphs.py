"""Morphs: words cut as a segmentation file says, such as one made by Morfessor.

Each line is a word, a tab, and its morphs separated by spaces, which must spell the word. A word
that is not in the file is one morph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from wordgeom.core.errors import FormatError, InputError
from wordgeom.storage.opening import unpacked
from wordgeom.subwords.units.unit import Cut, cut_by_lists

_WANTED = "a segmentation file"
_DO = "write a word, a tab, and its morphs separated by spaces"


@dataclass(frozen=True)
class Morphs:
    """Cuts words into the morphs of a table."""

    table: Mapping[str, Sequence[str]]

    def cut(self, words: Sequence[str]) -> Cut:
        """Return words cut into morphs."""
        return cut_by_lists([self.table.get(word, (word,)) for word in words])

    def lines(self) -> bytes:
        """Return the table as a segmentation file."""
        return "".join(f"{word}\t{' '.join(own)}\n" for word, own in self.table.items()).encode()


def read_morphs(path: Path) -> Morphs:
    """Read a segmentation file, which may be compressed by gzip; the first line of a word counts.

    Raises MissingInputError, FormatError; InputError for a line that does not spell its word.
    """
    with unpacked(path, _WANTED) as source:
        return parse_morphs(source.read(), path)


def parse_morphs(content: bytes, path: Path) -> Morphs:
    """Return the table of a segmentation file; path: its name. Raises what `read_morphs` raises."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        what = f"is not UTF-8 (byte {error.object[error.start]:#04x} at {error.start:,})"
        raise FormatError(what, where=path, do="save it as UTF-8") from None
    table: dict[str, tuple[str, ...]] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            word, morphs = _parsed(line.rstrip("\r"), f"{path} line {number}")
            table.setdefault(word, morphs)
    if not table:
        raise InputError("contains no words", where=path, do=_DO)
    return Morphs(table)


def _parsed(line: str, where: str) -> tuple[str, tuple[str, ...]]:
    word, tab, rest = line.partition("\t")
    morphs = tuple(rest.split())
    if not tab or not morphs or word.split() != [word]:
        raise InputError("expected a word, a tab and morphs", where=where, found=repr(line[:60]),
                         do=_DO)  # fmt: skip
    if "".join(morphs) != word:
        what = f"the morphs {' '.join(morphs)!r} do not spell {word!r}"
        raise InputError(what, where=where, do="correct the line")
    return word, morphs
