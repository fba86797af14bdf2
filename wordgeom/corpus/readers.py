"""Text files, gzip files and standard input as blocks of valid UTF-8 that end between tokens."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, cast

from wordgeom.errors import FormatError, InputError, MissingInputError

BLOCK = 1 << 21  # bytes of text tokenised at once: about 10 ms of work
STDIN = "-"
_UNBROKEN = 16 * BLOCK  # bytes without any ASCII separator before they are refused
_TAIL = 1 << 16
_BOM = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
_GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class Block:
    """Whole tokens of one file. offset: where they begin in the (unpacked) file, in bytes."""

    text: bytes
    source: str
    offset: int
    ascii: bool
    last: bool


@dataclass
class Source:
    """One input; after it was read, its size in bytes and its digest."""

    name: str
    digest: str = ""
    bytes: int = 0
    repaired: int = 0
    stamp: dict[str, int] = field(default_factory=dict)


def open_input(name: str) -> BinaryIO:
    """Open a file or `-` for reading; raises MissingInputError."""
    if name == STDIN:
        return cast(BinaryIO, sys.stdin.buffer)
    try:
        if os.path.isdir(name):
            do = "name the files in it, as in wordgeom build-cooc folder/*.txt"
            raise MissingInputError("is a directory", where=name, do=do)
        return open(name, "rb")
    except MissingInputError:
        raise
    except FileNotFoundError:
        do = "check the path, or give - for standard input"
        raise MissingInputError("no such file", where=name, do=do) from None
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise MissingInputError(f"cannot be read: {reason}", where=name) from error


def is_stream(name: str) -> bool:
    """Tell whether an input can be read only once: standard input, or a pipe with a name."""
    return name == STDIN or (
        os.path.exists(name) and not (os.path.isfile(name) or os.path.isdir(name))
    )


def check_input(name: str) -> None:
    """Fail on an input that cannot be opened, before any is read; raises MissingInputError."""
    if not is_stream(name):
        open_input(name).close()


def file_stamp(name: str) -> dict[str, int]:
    """Return size and time of change of a file: what tells cheaply that it is still the same."""
    if is_stream(name):
        return {}
    try:
        status = os.stat(name)
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise MissingInputError(f"cannot be read: {reason}", where=name) from error
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


def file_digest(name: str) -> str:
    """Return the SHA-256 of a file as it lies on the disk."""
    with open_input(name) as handle:
        return hashlib.file_digest(cast(io.BufferedReader, handle), "sha256").hexdigest()


def read_blocks(source: Source, separators: bytes, bad_bytes: str) -> Iterator[Block]:
    """Yield the text of `source` in blocks cut at a separator byte, and note its digest.

    bad_bytes: error, replace (U+FFFD) or skip. Raises MissingInputError; FormatError for a
    truncated gzip file; InputError for bytes that are not UTF-8 and for a token without end.
    """
    rest = b""
    offset = 0
    for chunk, last in _chunks(source):
        text = rest + chunk
        if offset == 0:
            _refuse_utf16(text, source.name)
        if offset == 0 and text.startswith(_BOM):
            text, offset = text[len(_BOM) :], len(_BOM)
        cut = len(text) if last else _last_separator(text, separators) + 1
        if cut == 0 and len(text) > _UNBROKEN:
            _refuse_token(source.name, offset, len(text))
        rest = text[cut:]
        text = text[:cut]
        if text or last:
            clean, is_ascii = _valid_utf8(text, source, offset, bad_bytes)
            yield Block(clean, source.name, offset, is_ascii, last)
        offset += cut


def _refuse_utf16(text: bytes, name: str) -> None:
    """Refuse text in two-byte units, which would be read as single letters."""
    begin = text[:_TAIL]
    if begin.startswith(_UTF16_MARKS) or 8 * begin.count(0) > len(begin):
        found = "a mark of UTF-16" if begin.startswith(_UTF16_MARKS) else "many zero bytes"
        do = "convert it: iconv -f UTF-16 -t UTF-8"
        raise InputError("looks like UTF-16 or no text at all", where=name, found=found, do=do)


def _refuse_token(name: str, offset: int, length: int) -> None:
    do = "check that this is text with white space between words"
    found = f"more than {length:,} bytes without a break"
    raise InputError(f"a token is too long at byte {offset:,}", where=name, found=found, do=do)


def _last_separator(text: bytes, separators: bytes) -> int:
    for start in (max(0, len(text) - _TAIL), 0):
        found = max(text.rfind(bytes([byte]), start) for byte in separators)
        if found >= 0:
            return found
    return -1


def _valid_utf8(text: bytes, source: Source, offset: int, bad_bytes: str) -> tuple[bytes, bool]:
    if text.isascii():
        return text, True
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        if bad_bytes == "error":
            bad = text[error.start : error.start + 1].hex()
            raise InputError(
                f"not UTF-8 at byte {offset + error.start:,}",
                where=source.name,
                found=f"0x{bad}",
                do="convert the file, or pass --bad-bytes replace or --bad-bytes skip",
            ) from None
        skipped = text.decode("utf-8", "ignore").encode("utf-8")
        source.repaired += len(text) - len(skipped)
        if bad_bytes == "skip":
            return skipped, False
        return text.decode("utf-8", "replace").encode("utf-8"), False
    return text, False


class _Digested:
    """A file whose bytes are counted and digested as they are read."""

    def __init__(self, raw: BinaryIO) -> None:
        self._raw = raw
        self.digest = hashlib.sha256()
        self.bytes = 0

    def read(self, size: int = -1) -> bytes:
        """Read as a file does."""
        held = self._raw.read(size)
        self.digest.update(held)
        self.bytes += len(held)
        return held


def _chunks(source: Source) -> Iterator[tuple[bytes, bool]]:
    """Yield (bytes, whether they are the last) of the unpacked input; note size and digest."""
    raw = open_input(source.name)
    try:
        source.stamp = file_stamp(source.name)
        packed = cast(io.BufferedReader, raw).peek(2)[:2] == _GZIP_MAGIC
        counted = _Digested(raw)
        reader = gzip.open(cast(BinaryIO, counted)) if packed else counted
        try:
            held = reader.read(BLOCK)
            while held:
                after = reader.read(BLOCK)
                yield held, not after
                held = after
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            found = str(error).split(":")[0].lower().rstrip(".")
            do = "check it with gzip -t, and fetch it again"
            raise FormatError("broken gzip file", where=source.name, found=found, do=do) from None
        source.digest, source.bytes = counted.digest.hexdigest(), counted.bytes
    finally:
        if source.name != STDIN:
            raw.close()
