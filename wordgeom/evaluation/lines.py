"""The lines of an evaluation set: UTF-8 text, plain or gzip, of any line ends."""

from __future__ import annotations

import gzip
import os
import zlib
from pathlib import Path
from typing import BinaryIO, cast

from wordgeom.core.errors import FormatError, InputError, MissingInputError

_MOST = 1 << 30  # bytes of a set: a small gzip file may unpack to any number of them
_CHUNK = 1 << 20
_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


def read_lines(path: str | Path) -> list[tuple[int, str]]:
    """Return a text file's lines that are not blank, each with its number, from 1.

    A mark of UTF-8 at the start and line ends, Unix or Windows, are removed. Raises
    MissingInputError; FormatError for a broken gzip file; InputError for bytes that are not UTF-8,
    naming the line, for more than 1 GiB, and where there is no line.
    """
    content = _content(Path(path))
    if len(content) > _MOST:
        do = "split it; evaluation sets are read into memory"
        raise InputError("is too long", where=path, found=f"more than {_MOST:,} bytes", do=do)
    text = _decoded(content.removeprefix(_BOM), path)
    # Not splitlines(), which would also cut at signs that stand inside a line of a text.
    numbered = ((n, line.removesuffix("\r")) for n, line in enumerate(text.split("\n"), 1))
    lines = [(number, line) for number, line in numbered if line.strip()]
    if not lines:
        raise InputError("holds no line", where=path, found=f"{len(content)} bytes")
    return lines


def set_name(path: str | Path) -> str:
    """Return what a set is called: its file's name without suffixes."""
    name = Path(path).name.removesuffix(".gz")
    return Path(name).stem or name


def _content(path: Path) -> bytes:
    try:
        if path.is_dir():
            raise MissingInputError("is a directory", where=path, do="name a file")
        with open(path, "rb") as raw:
            packed = raw.read(2) == _GZIP_MAGIC
            raw.seek(0)
            return _unpacked(raw, path) if packed else _bounded(raw)
    except FileNotFoundError as error:
        if isinstance(error, MissingInputError):
            raise
        raise MissingInputError("no such file", where=path, do="check the path") from None
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise MissingInputError(f"cannot be read: {reason}", where=path) from error


def _unpacked(raw: BinaryIO, path: Path) -> bytes:
    try:
        with gzip.open(raw) as unpacked:
            return _bounded(cast(BinaryIO, unpacked))
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        do = "check it with gzip -t, and fetch it again"
        raise FormatError("broken gzip file", where=path, found=error, do=do) from None


def _bounded(source: BinaryIO) -> bytes:
    """Return all that a file holds, or little more than the most that is read of one."""
    content = bytearray()
    while len(content) <= _MOST and (chunk := source.read(_CHUNK)):
        content += chunk
    return bytes(content)


def _decoded(content: bytes, path: str | Path) -> str:
    if content.startswith(_UTF16_MARKS):
        do = "convert it: iconv -f UTF-16 -t UTF-8"
        raise InputError("is not UTF-8", where=path, found="a mark of UTF-16", do=do)
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{content[error.start]:02x}"
        do = "convert the file to UTF-8"
        raise InputError("is not UTF-8", where=f"{path} line {line}", found=found, do=do) from None
