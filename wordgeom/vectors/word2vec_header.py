"""What both word2vec formats share: the file, its first line, and whether text or floats follow.

Nothing is allocated on a header's word: what it claims is held against the file's size first. Text
without a header, as GloVe writes it, is known by its first line: a word and two numbers or more.
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
from wordgeom.storage.opening import unpacked

BINARY_SUFFIXES = (".bin",)
TEXT_SUFFIXES = (".txt", ".vec")

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)

_BOM = b"\xef\xbb\xbf"
_LONGEST = 256  # bytes of a first line that can be a header
_SNIFFED = 1 << 20  # bytes in which the first word's line must end to be told as text


@dataclass(frozen=True)
class Header:
    """A word2vec file's first line, and what is known of the file before it is read."""

    path: Path
    words: int
    numbers: int
    start: int  # where the first record begins
    size: int
    text: bool
    line: int = 2  # that holds the first record, in text


def opened(path: Path) -> AbstractContextManager[BinaryIO]:
    """Open a file to read, a gzip file as what it holds. Raises MissingInputError, FormatError."""
    return unpacked(path, "a .bin, .txt or .vec file")


def name_suffix(path: Path) -> str:
    """Return the suffix that tells the format: that before `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_header(source: BinaryIO, path: Path) -> Header:
    """Read the first line, and leave `source` after it. Raises FormatError if it cannot be true."""
    size = _size(source)
    if size == 0:
        raise FormatError("is empty", where=path, do="write or copy it again")
    source.seek(_mark(source))
    if (bare := _without_header(source, path, size)) is not None:
        return bare
    words, numbers, start = _first_line(source, path)
    text = _is_text(source, numbers, start, path)
    # A record takes at least a byte of word, then a space and 4 bytes, or " 0", for each number,
    # and in text a line end.
    least = words * (2 * numbers + 2 if text else 4 * numbers + 2)
    _check_least(least, size - start, f"the header promises {words} words of {numbers}", path)
    return Header(path, words, numbers, start, size, text)


def decode(raw: bytes, header: Header, number: int, offset: int) -> str:
    """Return word `number` (from 1), whose bytes begin at `offset` of the file."""
    try:
        return raw.decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            f"word {number} at byte {offset} is not UTF-8",
            where=header.path,
            found=repr(raw[:40]),
            do="convert the file to UTF-8",
        ) from error


def _size(source: BinaryIO) -> int:
    """Return the bytes that a file holds, unpacked, and go back to its beginning."""
    if not isinstance(source, gzip.GzipFile):
        return os.fstat(source.fileno()).st_size
    size = 0
    while held := source.read(_SNIFFED):
        size += len(held)
    source.seek(0)
    return size


def _mark(source: BinaryIO) -> int:
    """Return how many bytes at the beginning only tell that this is UTF-8."""
    return len(_BOM) if source.read(len(_BOM)) == _BOM else 0


def _without_header(source: BinaryIO, path: Path, size: int) -> Header | None:
    """Return what a header would have said where there is none, and leave `source` at a record."""
    start = source.tell()
    line, end, _ = _peek(source, start).partition(b"\n")
    _, *numbers = line.split() or [b""]
    whole = all(map(bytes.isdigit, line.split()))  # a header of too many fields
    if len(numbers) < 2 or not end or whole or not all(map(NUMBER.fullmatch, numbers)):
        return None
    if name_suffix(path) in BINARY_SUFFIXES:
        return None
    words = _count_lines(source, path)
    source.seek(start)
    what = f"the first line promises {words} words of {len(numbers)}"
    _check_least(words * (2 * len(numbers) + 2), size - start, what, path)
    return Header(path, words, len(numbers), start, size, text=True, line=1)


def _count_lines(source: BinaryIO, path: Path) -> int:
    """Return how many lines there are up to the last that is not blank. Raises FormatError."""
    ends = lines = 0
    while held := source.read(_SNIFFED):
        if kept := held.rstrip():
            lines = ends + kept.count(b"\n") + 1
        ends += held.count(b"\n")
    if ends < lines:  # it may be cut within a number, and nothing would show it
        do = "copy it again, or end its last line if it is whole"
        raise FormatError("ends too soon", where=path, found="a line without a line end", do=do)
    return lines


def _check_least(least: int, found: int, what: str, path: Path) -> None:
    if least > found:
        raise FormatError(
            f"{what} numbers, at least {least} bytes",
            where=path,
            found=f"{found} bytes",
            do="the file was cut or its first line edited",
        )


def _first_line(source: BinaryIO, path: Path) -> tuple[int, int, int]:
    start = source.tell()
    line = source.read(_LONGEST)
    line = line[: line.find(b"\n") + 1]
    fields = line.split()
    # 18 digits: any more and the count is a lie, not a number to compute with.
    if len(fields) != 2 or not all(f.isdigit() and len(f) <= 18 for f in fields):
        raise FormatError(
            "the first line must be the count of words and of numbers per word",
            where=path,
            found=repr(line[:40].rstrip().decode(errors="replace")) if line else "no line end",
            do="is this a word2vec file?",
        )
    words, numbers = int(fields[0]), int(fields[1])
    if words == 0 or numbers == 0:
        raise FormatError(
            "the header's counts must be at least 1",
            where=path,
            found=f"{words} words of {numbers} numbers",
            do="write the vectors again",
        )
    source.seek(start + len(line))
    return words, numbers, start + len(line)


def _is_text(source: BinaryIO, numbers: int, start: int, path: Path) -> bool:
    """Tell by suffix, else by content. Raises FormatError where the two disagree."""
    data = _peek(source, start)
    text, suffix = _looks_like_text(data, numbers), name_suffix(path)
    if suffix in BINARY_SUFFIXES:
        if text:
            raise FormatError("holds text", where=path, do="rename it to .txt")
        return False
    if suffix in TEXT_SUFFIXES:
        if not text and b"\0" in data:
            raise FormatError("holds binary vectors", where=path, do="rename it to .bin")
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
