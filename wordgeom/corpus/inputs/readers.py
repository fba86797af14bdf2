"""Read files and standard input, compressed or not, as blocks of valid UTF-8 cut between tokens."""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import BinaryIO, NoReturn, cast

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.corpus.inputs import compression
from wordgeom.corpus.inputs.document_index import Documents
from wordgeom.corpus.inputs.held_texts import is_held, open_held
from wordgeom.corpus.inputs.part_digests import digest_of_parts, parts_of
from wordgeom.corpus.inputs.patterns import unreadable
from wordgeom.corpus.inputs.unsupported import is_binary, reject_unsupported
from wordgeom.storage.opening import not_there

BLOCK = 1 << 21  # bytes of text tokenised at once: about 10 ms of work
STDIN = "-"
_UNBROKEN = 16 * BLOCK  # bytes without any ASCII separator that are read before an error
_LONGEST = 1 << 26  # bytes of a record's line: parsing takes several times the memory
_TAIL = 1 << 16
_WIDE = re.compile(rb"[\xf0-\xf4]|\\u[dD][89abAB]")  # a character beyond U+FFFF, or its escape
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Block:
    """A stretch of one file that cuts no token.

    offset: byte at which it begins in the decompressed file. line: its first line number, or 0 if
    lines are not counted.
    """

    text: bytes
    source: str
    offset: int
    ascii: bool
    last: bool
    line: int = 0


def location(block: Block, at: int) -> str:
    """Return the position of block.text[at] in its file: `in line 7`, or `at byte 1,234`."""
    if block.line:
        return f"in line {block.line + block.text.count(10, 0, at):,}"
    return f"at byte {block.offset + at:,}"


@dataclass
class Source:
    """One input, with the size in bytes and the digest of its file once it was read.

    counts: numbers of skipped items, by description. wrapped, looks, markup, cut: hard_wrapping,
    records_format, markup_in and cut_words of its start. header: what the first row of a table was
    taken for, `header` or `unsure`, and its cells. bad_records, first_bad: the number of malformed
    records that were skipped, and the error of the first. empty: there is no text in it. listed:
    every record gets a line of text and an entry in `documents`, even without id and time
    (`formats.blocks`). misnamed: its suffix names a compression, its content has none. every_line:
    so does every line of plain text, even an empty one; lines: their number.
    documents: ids and times of the records; not a field, since checkpoints store fields as JSON.
    running: the hash of the bytes read so far. longest: bytes of the longest line of a record.
    span: the bytes [start:stop) that are read, None for all; where: what errors call it.
    """

    name: str
    digest: str = ""
    bytes: int = 0
    repaired: int = 0
    stamp: dict[str, int] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    wrapped: dict[str, float] = field(default_factory=dict)
    looks: str = ""
    markup: dict[str, str] = field(default_factory=dict)
    cut: dict[str, str] = field(default_factory=dict)
    header: dict[str, str] = field(default_factory=dict)
    bad_records: int = 0
    first_bad: str = ""
    empty: bool = False
    misnamed: bool = False
    listed: bool = False
    every_line: bool = False
    lines: int = 0

    def __post_init__(self) -> None:
        self.documents = Documents()
        self.running = hashlib.sha256()
        self.longest = sys.maxsize
        self.span: tuple[int, int] | None = None

    @property
    def where(self) -> str:
        """The name, and the byte from which lines are counted if that is not the first."""
        return f"{self.name} after byte {self.span[0]:,}" if self.span else self.name

    def count(self, what: str, number: int) -> None:
        """Count skipped items."""
        if number:
            self.counts[what] = self.counts.get(what, 0) + number


def open_input(name: str) -> BinaryIO:
    """Open a file or `-` for reading; raises MissingInputError."""
    if name == STDIN:
        return cast(BinaryIO, sys.stdin.buffer)
    if is_held(name):
        return open_held()
    if os.path.isdir(name):
        do = "name the files in it, as in wordgeom build-cooc directory/*.txt"
        raise MissingInputError("is a directory", where=name, do=do)
    try:
        return open(name, "rb")
    except FileNotFoundError:
        do = "check the path, or give - for standard input"
        raise not_there(name, do) from None
    except OSError as error:
        raise unreadable(name, error) from error


def is_stream(name: str) -> bool:
    """Return whether an input can be read only once: standard input, a pipe, texts in memory."""
    return (
        name == STDIN
        or is_held(name)
        or (os.path.exists(name) and not (os.path.isfile(name) or os.path.isdir(name)))
    )


def check_input(name: str) -> None:
    """Raise MissingInputError if an input cannot be opened."""
    if not is_stream(name):
        open_input(name).close()


def file_stamp(name: str) -> dict[str, int]:
    """Return size and modification time of a file, a cheap test that it has not changed."""
    if is_stream(name):
        return {}
    try:
        status = os.stat(name)
    except OSError as error:
        raise unreadable(name, error) from error
    return {"size": status.st_size, "mtime_ns": status.st_mtime_ns}


def file_digest(name: str) -> str:
    """Return the SHA-256 of a file as stored, without decompression."""
    with open_input(name) as handle:
        return hashlib.file_digest(cast(io.BufferedReader, handle), "sha256").hexdigest()


def has_digest(name: str, digest: str) -> bool:
    """Return whether a file has a digest, which may be of some of its bytes."""
    parts = parts_of(digest)
    if parts is None:
        return file_digest(name) == digest
    with open_input(name) as handle:
        return all(_digest_of_range(handle, *part[:2]) == part[2] for part in parts)


def _digest_of_range(handle: BinaryIO, start: int, stop: int) -> str:
    digest = hashlib.sha256()
    handle.seek(start)
    while start < stop and (chunk := handle.read(min(BLOCK, stop - start))):
        digest.update(chunk)
        start += len(chunk)
    return digest.hexdigest()


def is_compressed(name: str) -> bool:
    """Return whether a file, not a stream, is compressed."""
    with open_input(name) as handle:
        return compression.detect(handle.read(compression.HEAD_BYTES)) != ""


def read_blocks(source: Source, separators: bytes, bad_bytes: str) -> Iterator[Block]:
    """Yield the text of `source` in blocks that end at a separator byte, and set its digest.

    bad_bytes: error, replace (U+FFFD) or skip. Raises MissingInputError; FormatError for a corrupt
    compressed file; InputError for invalid UTF-8 and for a token that is too long.
    """

    def too_long(offset: int, length: int) -> NoReturn:
        of_lines = separators == b"\n"  # of a pattern for tokens
        part, end = ("line", "line end") if of_lines else ("token", "separator")
        split = "lines, to which --token-pattern applies" if of_lines else "spaces between words"
        what = f"the {part} at byte {offset:,} has more than {length:,} bytes without a {end}"
        raise InputError(what, where=source.name, do=f"check that this is text with {split}")

    for piece in _cut(read_pieces(source), separators, _UNBROKEN, too_long):
        clean, is_ascii = valid_utf8(piece.text, source, piece.offset, bad_bytes)
        yield Block(clean, source.name, piece.offset, is_ascii, piece.last)


def read_lines(source: Source, bad_bytes: str, copies: int = 1) -> Iterator[Block]:
    """Yield blocks of complete, numbered lines. Errors as in read_blocks, or a long line.

    copies: how many times as much memory as one of JSON a record takes.
    """
    number, most = 1, min(source.longest // copies, _LONGEST)

    def too_long(offset: int, length: int) -> NoReturn:
        what, do = f"the line has more than {most:,} bytes", "put each record on its own line"
        if most < _LONGEST:
            do += ", or raise --memory"
        where = f"{source.where} line {number}"
        raise InputError(what, where=where, do=do)

    for piece in _cut(read_pieces(source), b"\n", most, too_long):
        if len(piece.text) > 2 * BLOCK:
            _check_width(piece.text, most, number, source)
        clean, is_ascii = valid_utf8(piece.text, source, piece.offset, bad_bytes)
        made = [Block(clean, source.name, piece.offset, is_ascii, piece.last, number)]
        number += piece.text.count(b"\n")
        del piece, clean  # a record may be long
        yield made.pop()


def _check_width(text: bytes, most: int, number: int, source: Source) -> None:
    """Raise InputError if a record is too long for its characters; most: bytes of one in ASCII.

    As a string, it takes 1, 2 or 4 bytes a character.
    """
    fifths = 5 if text.isascii() else 6
    fifths = 11 if _WIDE.search(text) else fifths
    fitting = most * 5 // fifths
    if len(text) > fitting and most < _LONGEST:
        what = f"the line has {len(text):,} bytes, more than {fitting:,}"
        do = "put each record on its own line, or raise --memory"
        raise InputError(what, where=f"{source.where} line {number}", do=do)


def read_pieces(source: Source) -> Generator[Block, None, None]:
    """Yield the decompressed bytes of `source`, cut anywhere, without a byte order mark."""
    offset = source.span[0] if source.span else 0
    for chunk, last in read_chunks(source):
        text = chunk
        if offset == 0:
            reject_unsupported(chunk, source.name)
            text = chunk.removeprefix(_BOM)
        yield Block(text, source.name, offset + len(chunk) - len(text), text.isascii(), last)
        offset += len(chunk)


def _cut(
    pieces: Iterator[Block], separators: bytes, most: int, too_long: Callable[[int, int], NoReturn]
) -> Iterator[Block]:
    """Yield the same bytes in blocks that end at a separator.

    Calls `too_long` with offset and length if `most` bytes contain none.
    """
    rest = b""
    for piece in pieces:
        offset = piece.offset - len(rest)
        text = rest + piece.text
        cut = len(text) if piece.last else _last_separator(text, separators) + 1
        if cut == 0 and len(text) > most:
            too_long(offset, len(text))
        rest, text = text[cut:], text[:cut]
        if text or piece.last:
            made = [Block(text, piece.source, offset, False, piece.last)]
            del text
            yield made.pop()


def _last_separator(text: bytes, separators: bytes) -> int:
    for start in (max(0, len(text) - _TAIL), 0):
        found = max(text.rfind(bytes([byte]), start) for byte in separators)
        if found >= 0:
            return found
    return -1


def valid_utf8(text: bytes, source: Source, offset: int, bad_bytes: str) -> tuple[bytes, bool]:
    """Return text without invalid UTF-8, and whether it is ASCII; raises InputError.

    offset: byte at which it begins in the file; bad_bytes: as in `read_blocks`.
    """
    if text.isascii():
        return text, True
    try:
        text.decode("utf-8")
    except UnicodeDecodeError as error:
        if bad_bytes == "error":
            bad = text[error.start : error.start + 1].hex()
            convert = "convert the file, or pass --bad-bytes replace or --bad-bytes skip"
            raise InputError(
                f"not UTF-8 at byte {offset + error.start:,}",
                where=source.name,
                found=f"0x{bad}",
                do="check that this is text" if is_binary(text) else convert,
            ) from None
        skipped = text.decode("utf-8", "ignore").encode("utf-8")
        source.repaired += len(text) - len(skipped)
        if bad_bytes == "skip":
            return skipped, False
        return text.decode("utf-8", "replace").encode("utf-8"), False
    return text, False


class _Digested:
    """A file that counts and hashes the bytes read from it; `head` holds its first bytes."""

    def __init__(self, raw: BinaryIO, name: str) -> None:
        self._raw, self._name = raw, name
        self.digest = hashlib.sha256()
        self.bytes = 0
        self.head = self._ahead = self._read(compression.HEAD_BYTES)

    def read(self, size: int = -1) -> bytes:
        """Read `size` bytes, fewer only at the end."""
        ahead, self._ahead = self._ahead[:size], self._ahead[size:]
        return ahead + self._read(size - len(ahead))

    def _read(self, size: int) -> bytes:
        data = _read(self._raw, size, self._name)
        self.digest.update(data)
        self.bytes += len(data)
        return data

    def pieces(self, size: int) -> Iterator[bytes]:
        """Yield all bytes in pieces of `size`; the first is a little longer."""
        piece = self._ahead + self._read(size)
        while piece:
            yield piece
            piece = self._read(size)


def read_chunks(source: Source) -> Iterator[tuple[bytes, bool]]:
    """Yield the decompressed input as (bytes, is last); set the size and digest of `source`."""
    if source.span is not None:
        yield from _read_span(source, *source.span)
        return
    raw = open_input(source.name)
    try:
        source.stamp = file_stamp(source.name)
        digested = _Digested(raw, source.name)
        source.running = digested.digest
        how = compression.detect(digested.head)
        source.misnamed = not how and source.name.lower().endswith(compression.SUFFIXES)
        plain = digested.pieces(BLOCK)
        chunks = compression.decompressed(digested, how, source.name, BLOCK) if how else plain
        chunk = next(chunks, b"")
        source.empty = not chunk
        while chunk:
            following = next(chunks, b"")
            yield chunk, not following
            chunk = following
        source.digest, source.bytes = digested.digest.hexdigest(), digested.bytes
    finally:
        if source.name != STDIN:
            raw.close()


def _read_span(source: Source, start: int, stop: int) -> Iterator[tuple[bytes, bool]]:
    """Yield the bytes [start:stop) of a file without compression, as `read_chunks` does."""
    with open_input(source.name) as raw:
        source.stamp = file_stamp(source.name)
        source.misnamed = source.name.lower().endswith(compression.SUFFIXES)
        source.running = hashlib.sha256()
        raw.seek(start)
        at = start
        while at < stop:
            chunk = _read(raw, min(BLOCK, stop - at), source.name)
            if not chunk:
                do = "count it again"
                raise InputError("became shorter while it was read", where=source.name, do=do)
            source.running.update(chunk)
            at += len(chunk)
            yield chunk, at == stop
        source.digest = digest_of_parts([(start, stop, source.running.hexdigest())])
        source.bytes = source.stamp["size"]


def _read(raw: BinaryIO, size: int, name: str) -> bytes:
    """Read `size` bytes, fewer only at the end; raises MissingInputError."""
    try:
        return raw.read(size)
    except OSError as error:
        raise unreadable(name, error) from error
