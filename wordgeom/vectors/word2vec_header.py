"""The header of word2vec files, and the detection of text and binary ones.

The numbers of a header are checked against the file's size before anything is allocated. A text
without a header, as GloVe writes it, has a first line of a word and two or more numbers.
"""

from __future__ import annotations

import gzip
import os
import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wordgeom.core.errors import FormatError
from wordgeom.core.formatting import plural
from wordgeom.storage.foreign import recognise
from wordgeom.storage.opening import unpacked

BINARY_SUFFIXES = (".bin",)
TEXT_SUFFIXES = (".txt", ".vec")

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)

_BOM = b"\xef\xbb\xbf"
_LONGEST = 256  # bytes of the longest header
_SNIFFED = 1 << 20  # bytes within which the first line of a text must end


@dataclass(frozen=True)
class Header:
    """The header of a word2vec file: V words of K numbers, and the file's layout."""

    path: Path
    words: int
    numbers: int
    start: int  # offset of the first record
    size: int
    text: bool
    line: int = 2  # line of the first record, in text


def opened(path: Path) -> AbstractContextManager[BinaryIO]:
    """Open a file for reading, gzip decompressed; raises MissingInputError, FormatError."""
    return unpacked(path, "a .bin, .txt or .vec file")


def name_suffix(path: Path) -> str:
    """Return the suffix of the format, the one before `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_header(source: BinaryIO, path: Path) -> Header:
    """Read the header and leave `source` after it; raises FormatError for an implausible one."""
    size = _size(source)
    if size == 0:
        raise FormatError("is empty", where=path, do="make or copy it again")
    source.seek(len(_BOM) if source.read(len(_BOM)) == _BOM else 0)
    if (bare := _without_header(source, path, size)) is not None:
        return bare
    words, numbers, start = _first_line(source, path)
    text = _is_text(source, numbers, start, path)
    # A record has at least one byte of word; a space and 4 bytes per number, or " 0" per number and
    # a line break in text.
    least = words * (2 * numbers + 2 if text else 4 * numbers + 2)
    what = f"the header declares {plural(words, 'word')} of {numbers:,}"
    _check_least(least, size - start, what, path)
    return Header(path, words, numbers, start, size, text)


def decode(raw: bytes, header: Header, number: int, offset: int) -> str:
    """Return word `number` (from 1), whose bytes are at `offset` of the file."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            f"word {number} at byte {offset} is not UTF-8",
            where=header.path,
            found=repr(raw[:40]),
            do="check the dimension in its first line, or convert its words to UTF-8",
        ) from error


def _size(source: BinaryIO) -> int:
    """Return the size of a file, decompressed, and rewind it."""
    if not isinstance(source, gzip.GzipFile):
        return os.fstat(source.fileno()).st_size
    size = 0
    while held := source.read(_SNIFFED):
        size += len(held)
    source.seek(0)
    return size


def _without_header(source: BinaryIO, path: Path, size: int) -> Header | None:
    """Return the header of a text that has none, None for others; leave `source` at a record."""
    start = source.tell()
    line, end, _ = _peek(source, start).partition(b"\n")
    _, *numbers = line.split() or [b""]
    integers = all(map(bytes.isdigit, line.split()))  # a header of too many fields
    if len(numbers) < 2 or not end or integers or not all(map(NUMBER.fullmatch, numbers)):
        return None
    if name_suffix(path) in BINARY_SUFFIXES:
        return None
    words = _count_lines(source, path)
    source.seek(start)
    what = f"the first line implies {plural(words, 'word')} of {len(numbers)}"
    _check_least(words * (2 * len(numbers) + 2), size - start, what, path)
    return Header(path, words, len(numbers), start, size, text=True, line=1)


def _count_lines(source: BinaryIO, path: Path) -> int:
    """Return the number of lines up to the last non-blank one; raises FormatError."""
    ends = lines = 0
    while block := source.read(_SNIFFED):
        if stripped := block.rstrip():
            lines = ends + stripped.count(b"\n") + 1
        ends += block.count(b"\n")
    if ends < lines:  # it may have been truncated within a number
        do = "copy it again, or add a line break if it is complete"
        raise FormatError("truncated: its last line has no line break", where=path, do=do)
    return lines


def _check_least(least: int, found: int, what: str, path: Path) -> None:
    if least > found:
        raise FormatError(
            f"{what} numbers, at least {least:,} bytes",
            where=path,
            found=plural(found, "byte"),
            do="copy or write it again",
        )


def _first_line(source: BinaryIO, path: Path) -> tuple[int, int, int]:
    start = source.tell()
    line = source.read(_LONGEST)
    line = line[: line.find(b"\n") + 1]
    fields = line.split()
    # More than 18 digits cannot be a count.
    if len(fields) != 2 or not all(f.isdigit() and len(f) <= 18 for f in fields):
        source.seek(start)
        if foreign := recognise(_peek(source, start), path.name):
            what = f"not a word2vec file: it {foreign.line}"
            raise FormatError(what, where=path, found=foreign.found, do=foreign.do)
        raise FormatError(
            "not a word2vec file: the first line must give the number of words and the dimension",
            where=path,
            found=repr(line[:40].rstrip().decode(errors="replace")) if line else "no line break",
            do="check the file",
        )
    words, numbers = int(fields[0]), int(fields[1])
    if words == 0 or numbers == 0:
        raise FormatError(
            "the numbers of the header must be at least 1",
            where=path,
            found=f"{words} words of {numbers} numbers",
            do="write the vectors again",
        )
    source.seek(start + len(line))
    return words, numbers, start + len(line)


def _is_text(source: BinaryIO, numbers: int, start: int, path: Path) -> bool:
    """Return whether a file is text, by suffix, else by content; raises FormatError on conflict."""
    data = _peek(source, start)
    text, suffix = _looks_like_text(data, numbers), name_suffix(path)
    if suffix in BINARY_SUFFIXES:
        if text:
            raise FormatError("contains text", where=path, do="rename it to .txt")
        return False
    if suffix in TEXT_SUFFIXES:
        if not text and b"\0" in data:
            raise FormatError("contains binary vectors", where=path, do="rename it to .bin")
        return True
    return text


def _looks_like_text(data: bytes, numbers: int) -> bool:
    line, end, _ = data.partition(b"\n")
    fields = line.split()
    last = fields[-numbers:]
    return bool(end) and len(fields) > numbers and all(map(NUMBER.fullmatch, last))


def _peek(source: BinaryIO, start: int) -> bytes:
    data = source.read(_SNIFFED)
    source.seek(start)
    return data
