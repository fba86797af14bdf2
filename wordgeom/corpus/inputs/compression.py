"""Decompress gzip, bzip2, xz and zstd, recognised by their first bytes; streams may follow another.

A header cannot make the reader allocate memory: dictionaries and windows beyond `_MOST` are errors.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Protocol, cast

from wordgeom.core.errors import FormatError, InputError, WordgeomError

if sys.version_info >= (3, 14):
    from compression import zstd as zstd  # tests compress with it
else:
    from backports import zstd as zstd

HEAD_BYTES = 10  # bytes that identify a compression
SUFFIXES = (".gz", ".bz2", ".xz", ".zst", ".zstd")
_LOG_MOST = 27  # the limit of `zstd -d`
_MOST = 1 << _LOG_MOST  # bytes of a dictionary or window, twice that of `xz -9`
_FED = 1 << 16  # compressed bytes per step
_BZIP2_BLOCKS = (b"1AY&SY", b"\x17\x72\x45\x38\x50\x90")
_CHECKS = {"gzip": "gzip -t", "bzip2": "bzip2 -t", "xz": "xz -t", "zstd": "zstd -t"}
_AFTER = "other data after its end"
_ZSTD_ERROR = "Unable to decompress Zstandard data: "  # begins the library's messages
_TOO_LARGE = ("memory usage limit", "too much memory")


_Stream = bz2.BZ2Decompressor | lzma.LZMADecompressor | zstd.ZstdDecompressor


class Reader(Protocol):
    """Anything with the `read` of a file."""

    def read(self, size: int = -1, /) -> bytes:
        """Read at most `size` bytes; return none at the end."""


def detect(head: bytes) -> str:
    """Return the compression of a file by its first bytes: gzip, bzip2, xz, zstd, or ""."""
    if head.startswith(b"\x1f\x8b"):
        return "gzip"
    if head.startswith(b"BZh") and any(b.startswith(head[4:HEAD_BYTES]) for b in _BZIP2_BLOCKS):
        return "bzip2" if len(head) > 4 else ""
    if head.startswith(b"\xfd7zXZ\0"):
        return "xz"
    skippable = head[1:4] == b"\x2a\x4d\x18" and head[0] >> 4 == 5
    return "zstd" if skippable or head.startswith(b"\x28\xb5\x2f\xfd") else ""


def decompressed(raw: Reader, how: str, where: str, size: int) -> Iterator[bytes]:
    """Yield the decompressed bytes of a file in pieces of `size`, the last one shorter.

    how: the compression, from `detect`. Raises FormatError for a file that is truncated, corrupt or
    followed by other data; InputError if decompression would take too much memory.
    """
    stream = gzip.GzipFile(fileobj=cast(BinaryIO, raw)) if how == "gzip" else _Streams(raw, how)
    try:
        while piece := stream.read(size):
            yield piece
    except WordgeomError:
        raise
    except (EOFError, OSError, ValueError, zlib.error, lzma.LZMAError, zstd.ZstdError) as error:
        raise _explained(error, how, where) from None


def _explained(error: Exception, how: str, where: str) -> WordgeomError:
    found = str(error).removeprefix(_ZSTD_ERROR).split(":")[0].lower().rstrip(".")
    if any(words in found for words in _TOO_LARGE):
        what = f"needs more than {_MOST >> 20} MiB of memory to decompress"
        do = "decompress it and pipe it in, or compress it with a smaller window"
        return InputError(what, where=where, do=do)
    if found.startswith("not a gzipped file"):  # but its first bytes are those of gzip
        found = _AFTER
    do = f"check it with {_CHECKS[how]}, and fetch it again"
    return FormatError(f"broken {how} file: {found}", where=where, do=do)


class _Streams:
    """Concatenated streams of one compression as one file; zero bytes may separate them."""

    def __init__(self, raw: Reader, how: str) -> None:
        self._raw, self._how = raw, how
        self._inner = _decompressor(how)
        self._fed = b""  # compressed bytes not yet decoded
        self._decoded = memoryview(b"")  # decoded bytes not yet returned

    def read(self, size: int) -> bytes:
        """Read `size` bytes, fewer only at the end."""
        parts: list[memoryview] = []
        room = size
        while room and (part := self._part(room)):
            parts.append(part)
            room -= len(part)
        return b"".join(parts)

    def _part(self, room: int) -> memoryview:
        while not self._decoded:
            if self._inner.eof and not self._next():
                break
            if self._inner.needs_input and not self._fed:
                self._fed = self._raw.read(_FED)
                if not self._fed:
                    raise EOFError("it ends before the compressed data do")
            self._decoded = memoryview(self._inner.decompress(self._fed, room))
            self._fed = b""
        part, self._decoded = self._decoded[:room], self._decoded[room:]
        return part

    def _next(self) -> bool:
        """Start the next stream, if there is one."""
        rest = self._inner.unused_data.lstrip(b"\0")
        while len(rest) < HEAD_BYTES and (more := self._raw.read(_FED)):
            rest = (rest + more).lstrip(b"\0")
        if rest and detect(rest[:HEAD_BYTES]) != self._how:
            raise ValueError(_AFTER)
        if rest:
            self._inner, self._fed = _decompressor(self._how), rest
        return bool(rest)


def _decompressor(how: str) -> _Stream:
    if how == "bzip2":
        return bz2.BZ2Decompressor()
    if how == "xz":
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MOST)
    return zstd.ZstdDecompressor(options={zstd.DecompressionParameter.window_log_max: _LOG_MOST})
