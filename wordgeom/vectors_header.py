"""What both word2vec formats share: the file, its first line, and whether text or floats follow.

Nothing is allocated on a header's word: what it claims is held against the file's size first.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from wordgeom.errors import FormatError, MissingInputError

BINARY_SUFFIXES = (".bin",)
TEXT_SUFFIXES = (".txt", ".vec")

NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?|[+-]?(inf|infinity|nan)", re.IGNORECASE)

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


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file to read. Raises MissingInputError for anything else."""
    try:
        _check_regular(path)
        with open(path, "rb") as source:
            yield source
    except MissingInputError:
        raise
    except FileNotFoundError as error:
        raise MissingInputError("no such file", where=path, do="check the path") from error
    except OSError as error:
        if error.errno is None:
            raise
        reason = os.strerror(error.errno).lower()
        raise MissingInputError(f"cannot be read: {reason}", where=path) from error


def _check_regular(path: Path) -> None:
    # Asked before it is opened: opening a pipe would wait for a writer.
    if not stat.S_ISREG(path.stat().st_mode):
        found = "a folder" if path.is_dir() else "a device or pipe"
        do = "name a .bin, .txt or .vec file"
        raise MissingInputError("is not a file of vectors", where=path, found=found, do=do)


def read_header(source: BinaryIO, path: Path) -> Header:
    """Read the first line, and leave `source` after it. Raises FormatError if it cannot be true."""
    size = os.fstat(source.fileno()).st_size
    if size == 0:
        raise FormatError("is empty", where=path, do="write or copy it again")
    words, numbers, start = _first_line(source, path)
    text = _is_text(source, numbers, start, path)
    # A record takes at least a byte of word, then a space and 4 bytes, or " 0", for each number,
    # and in text a line end.
    least = words * (2 * numbers + 2 if text else 4 * numbers + 2)
    if least > size - start:
        raise FormatError(
            f"the header promises {words} words of {numbers} numbers, at least {least} bytes",
            where=path,
            found=f"{size - start} bytes",
            do="the file was cut or its first line edited",
        )
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


def _first_line(source: BinaryIO, path: Path) -> tuple[int, int, int]:
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
    source.seek(len(line))
    return words, numbers, len(line)


def _is_text(source: BinaryIO, numbers: int, start: int, path: Path) -> bool:
    """Tell by suffix, else by content. Raises FormatError where the two disagree."""
    data = _peek(source, start)
    text, suffix = _looks_like_text(data, numbers), path.suffix.lower()
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
