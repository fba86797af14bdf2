"""Packed files, told by their first bytes: gzip, bzip2, xz and zstd, one stream after another.

Nothing is allocated because a header asks for it: a dictionary or window beyond `_MOST` is refused.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Protocol, cast

from wordgeom.core.errors import FormatError, InputError, WordgeomError

HEAD = 10  # bytes that tell how a file is packed
SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")
_MOST = 1 << 27  # bytes of a dictionary or window: what `zstd -d` takes, twice what `xz -9` makes
_FED = 1 << 10  # bytes unpacked at once: four bytes of zstd may stand for 128 KiB
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")
_CHECKS = {"gzip": "gzip -t", "bzip2": "bzip2 -t", "xz": "xz -t", "zstd": "zstd -t"}
_AFTER = "rubbish after its end"
_NEEDY = ("memory usage limit", "too much memory")


class Reader(Protocol):
    """What can be read like a file."""

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes; none at the end."""


class _Stream(Protocol):
    """One packed stream as it is unpacked, in the manner of bz2 and lzma."""

    @property
    def eof(self) -> bool: ...
    @property
    def needs_input(self) -> bool: ...
    @property
    def unused_data(self) -> bytes: ...
    def decompress(self, data: bytes, max_length: int) -> bytes: ...


def kind(head: bytes) -> str:
    """Return how a file that begins so is packed: gzip, bzip2, xz or zstd; "" for not at all."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"BZh") and any(b.startswith(head[4:HEAD]) for b in _BZIP2_BLOCKS):
        return "bzip2" if len(head) > 4 else ""
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    skippable = head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5
    return "zstd" if skippable or head.startswith(b"\x28\xb5\x2f\xfd") else ""


def unpacked(raw: Reader, how: str, where: str, size: int) -> Iterator[bytes]:
    """Yield what a file packed as `how` holds, in pieces of `size` bytes, the last one shorter.

    Raises FormatError for a file that is cut short, garbled, or followed by something else;
    InputError where unpacking would take too much memory.
    """
    packed = gzip.GzipFile(fileobj=cast(BinaryIO, raw)) if how == "gzip" else _Streams(raw, how)
    try:
        while piece := packed.read(size):
            yield piece
    except WordgeomError:
        raise
    except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise _explained(error, how, where) from None


def _explained(error: Exception, how: str, where: str) -> WordgeomError:
    found = str(error).split(":")[0].lower().rstrip(".")
    if any(words in found for words in _NEEDY):
        what = f"takes more than {_MOST >> 20} MiB to unpack"
        do = "unpack it yourself and pipe it in, or pack it with a smaller window"
        return InputError(what, where=where, do=do)
    if found.startswith("not a gzipped file"):  # its first bytes told that it is one
        found = _AFTER
    do = f"check it with {_CHECKS[how]}, and fetch it again"
    return FormatError(f"broken {how} file", where=where, found=found, do=do)


class _Streams:
    """Streams of one kind, one after another, as one file. Zero bytes may stand between them."""

    def __init__(self, raw: Reader, how: str) -> None:
        self._raw, self._how = raw, how
        self._inner = _begun(how)
        self._fed = b""  # read and not yet unpacked
        self._held = memoryview(b"")  # unpacked and not yet handed out

    def read(self, size: int) -> bytes:
        """Read `size` bytes, fewer at the end alone."""
        parts: list[memoryview] = []
        room = size
        while room and (part := self._part(room)):
            parts.append(part)
            room -= len(part)
        return b"".join(parts)

    def _part(self, room: int) -> memoryview:
        while not self._held:
            if self._inner.eof and not self._next():
                break
            if self._inner.needs_input and not self._fed:
                self._fed = self._raw.read(_FED)
                if not self._fed:
                    raise EOFError("its end before the end of what was packed")
            self._held = memoryview(self._inner.decompress(self._fed, room))
            self._fed = b""
        part, self._held = self._held[:room], self._held[room:]
        return part

    def _next(self) -> bool:
        """Begin the stream that follows, if there is one."""
        rest = self._inner.unused_data.lstrip(b"\0")
        while len(rest) < HEAD and (more := self._raw.read(_FED)):
            rest = (rest + more).lstrip(b"\0")
        if rest and kind(rest[:HEAD]) != self._how:
            raise ValueError(_AFTER)
        if rest:
            self._inner, self._fed = _begun(self._how), rest
        return bool(rest)


class _Zstd:
    """A frame of zstd. `max_length` is left aside: little is fed at once."""

    needs_input = True

    def __init__(self) -> None:
        import zstandard

        self._failure = zstandard.ZstdError
        self._inner = zstandard.ZstdDecompressor(max_window_size=_MOST).decompressobj()

    @property
    def eof(self) -> bool:
        return self._inner.eof

    @property
    def unused_data(self) -> bytes:
        return self._inner.unused_data

    def decompress(self, data: bytes, max_length: int) -> bytes:
        try:
            return self._inner.decompress(data)
        except self._failure as error:
            raise ValueError(str(error).removeprefix("zstd decompressor error: ")) from None


def _begun(how: str) -> _Stream:
    if how == "bzip2":
        return bz2.BZ2Decompressor()
    if how == "xz":
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST)
    return _Zstd()
