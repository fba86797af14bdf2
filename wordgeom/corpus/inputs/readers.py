"""Files and standard input, packed or plain, as blocks of valid UTF-8 that end between tokens."""

from __future__ import annotations

import hashlib
import io
import os
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NoReturn, cast

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.corpus.inputs import compression
from wordgeom.corpus.inputs.document_index import Documents
from wordgeom.corpus.inputs.unsupported import is_binary, refuse_foreign

BLOCK = 1 << 21  # bytes of text tokenised at once: about 10 ms of work
STDIN = "-"
_UNBROKEN = 16 * BLOCK  # bytes without any ASCII separator before they are refused
_LONGEST = 1 << 26  # bytes of a line that holds a record: parsing it takes several times as much
_TAIL = 1 << 16
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """Whole tokens of one file.

    offset: where they begin in the unpacked file, in bytes. line: the number of their first line
    there, 0 where lines were not counted.
    """

    text: bytes
    source: str
    offset: int
    ascii: bool
    last: bool
    line: int = 0


def place(block: Block, at: int) -> str:
    """Return where in its file block.text[at] stands: `in line 7`, or `at byte 1,234`."""
    if block.line:
        return f"in line {block.line + block.text.count(10, 0, at):,}"
    return f"at byte {block.offset + at:,}"


@dataclass
class Source:
    """One input; after it was read, its size in bytes and its digest.

    counts: what was left out of it, by name. wrapped, looks: `wrapping.judge` and `looks.judge` of
    its first lines. empty: it holds nothing, unpacked. listed: every record is to have a place in
    `documents`, also one without id and time, and to be one line of text (`forms.blocks`).
    documents: the records' ids and times, where they are asked for; no field, since they may be
    many and a field is kept as JSON. running: the digest of the bytes so far.
    """

    name: str
    digest: str = ""
    bytes: int = 0
    repaired: int = 0
    stamp: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    wrapped: dict[str, float] = field(default_factory=dict)
    looks: str = ""
    empty: bool = False
    listed: bool = False

    def __post_init__(self) -> None:
        self.documents = Documents()
        self.running = hashlib.sha256()

    def count(self, what: str, number: int) -> None:
        """Count something that was left out."""
        if number:
            self.counts[what] = self.counts.get(what, 0) + number


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
        raise _unreadable(name, error) from error


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
        raise _unreadable(name, error) from error
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


def file_digest(name: str) -> str:
    """Return the SHA-256 of a file as it lies on the disk."""
    with open_input(name) as handle:
        return hashlib.file_digest(cast(io.BufferedReader, handle), "sha256").hexdigest()


def is_packed(name: str) -> bool:
    """Tell whether a file that is no stream is packed."""
    with open_input(name) as handle:
        return compression.kind(handle.read(compression.HEAD)) != ""


def read_blocks(source: Source, separators: bytes, bad_bytes: str) -> Iterator[Block]:
    """Yield the text of `source` in blocks cut at a separator byte, and note its digest.

    bad_bytes: error, replace (U+FFFD) or skip. Raises MissingInputError; FormatError for a
    broken packed file; InputError for bytes that are not UTF-8 and for a token without end.
    """

    def refuse(offset: int, length: int) -> NoReturn:
        do = "check that this is text with white space between words"
        found = f"more than {length:,} bytes without a break"
        what = f"a token is too long at byte {offset:,}"
        raise InputError(what, where=source.name, found=found, do=do)

    for piece in _cut(read_pieces(source), separators, _UNBROKEN, refuse):
        clean, is_ascii = _valid_utf8(piece.text, source, piece.offset, bad_bytes)
        yield Block(clean, source.name, piece.offset, is_ascii, piece.last)


def read_lines(source: Source, bad_bytes: str) -> Iterator[Block]:
    """Yield blocks of whole, numbered lines. Raises as read_blocks; InputError for a long line."""
    number = 1

    def refuse(offset: int, length: int) -> NoReturn:
        found, do = f"more than {length:,} bytes", "check that each record is a line of its own"
        where = f"{source.name} line {number}"
        raise InputError("is too long a line", where=where, found=found, do=do)

    for piece in _cut(read_pieces(source), b"\n", _LONGEST, refuse):
        clean, is_ascii = _valid_utf8(piece.text, source, piece.offset, bad_bytes)
        yield Block(clean, source.name, piece.offset, is_ascii, piece.last, number)
        number += piece.text.count(b"\n")


def read_pieces(source: Source) -> Generator[Block, None, None]:
    """Yield the unpacked bytes of `source` as they come, cut anywhere, without a mark of order."""
    offset = 0
    for chunk, last in _chunks(source):
        text = chunk
        if offset == 0:
            refuse_foreign(chunk, source.name)
            text = chunk.removeprefix(_BOM)
        yield Block(text, source.name, offset + len(chunk) - len(text), text.isascii(), last)
        offset += len(chunk)


def _cut(
    pieces: Iterator[Block], separators: bytes, most: int, refuse: Callable[[int, int], NoReturn]
) -> Iterator[Block]:
    """Yield the same bytes in blocks that end at a separator; `refuse` what has none for long."""
    rest = b""
    for piece in pieces:
        offset = piece.offset - len(rest)
        text = rest + piece.text
        cut = len(text) if piece.last else _last_separator(text, separators) + 1
        if cut == 0 and len(text) > most:
            refuse(offset, len(text))
        rest, text = text[cut:], text[:cut]
        if text or piece.last:
            yield Block(text, piece.source, offset, False, piece.last)


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
            anyhow = "convert the file, or pass --bad-bytes replace or --bad-bytes skip"
            raise InputError(
                f"not UTF-8 at byte {offset + error.start:,}",
                where=source.name,
                found=f"0x{bad}",
                do="check that this is text" if is_binary(text) else anyhow,
            ) from None
        skipped = text.decode("utf-8", "ignore").encode("utf-8")
        source.repaired += len(text) - len(skipped)
        if bad_bytes == "skip":
            return skipped, False
        return text.decode("utf-8", "replace").encode("utf-8"), False
    return text, False


class _Digested:
    """A file whose bytes are counted and digested as they are read; its head may be looked at."""

    def __init__(self, raw: BinaryIO, name: str) -> None:
        self._raw, self._name = raw, name
        self.digest = hashlib.sha256()
        self.bytes = 0
        self.head = self._ahead = self._read(compression.HEAD)

    def read(self, size: int = -1) -> bytes:
        """Read `size` bytes, fewer at the end alone."""
        held, self._ahead = self._ahead[:size], self._ahead[size:]
        return held + self._read(size - len(held))

    def _read(self, size: int) -> bytes:
        try:
            held = self._raw.read(size)
        except OSError as error:
            raise _unreadable(self._name, error) from error
        self.digest.update(held)
        self.bytes += len(held)
        return held

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield all bytes in pieces of `size`, the first a little longer."""
        held = self._ahead + self._read(size)
        while held:
            yield held
            held = self._read(size)


def _chunks(source: Source) -> Iterator[tuple[bytes, bool]]:
    """Yield (bytes, whether they are the last) of the unpacked input; note size and digest."""
    raw = open_input(source.name)
    try:
        source.stamp = file_stamp(source.name)
        counted = _Digested(raw, source.name)
        source.running = counted.digest
        how = compression.kind(counted.head)
        plain = counted.pieces(BLOCK)
        chunks = compression.unpacked(counted, how, source.name, BLOCK) if how else plain
        held = next(chunks, b"")
        source.empty = not held
        while held:
            after = next(chunks, b"")
            yield held, not after
            held = after
        source.digest, source.bytes = counted.digest.hexdigest(), counted.bytes
    finally:
        if source.name != STDIN:
            raw.close()


def _unreadable(name: str, error: OSError) -> MissingInputError:
    reason = os.strerror(error.errno or 0).lower()
    return MissingInputError(f"cannot be read: {reason}", where=name)
