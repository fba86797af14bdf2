"""The arrays of a store: appended to with a CRC-32 per MiB, and read by ranges."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Array
from wordgeom.storage.files import WatchedFile, write_errors
from wordgeom.storage.meta import (
    CRC_BLOCK,
    HEADER,
    entry_well_formed,
    header_bytes,
    npy_header,
    part_bytes,
)

_VERIFIED = 64 * CRC_BLOCK  # bytes verified at once


class StoredArray:
    """One part of a store, read by ranges; the CRC of every MiB read is checked.

    do: what errors advise.
    """

    def __init__(self, path: Path, entry: dict[str, Any], *, do: str, marked: bool = False) -> None:
        self.path, self._do = path, do
        self.dtype = np.dtype(entry["dtype"])
        self.length: int = entry["length"]
        self._crcs: list[int] = entry["crc32"]
        self.offset = header_bytes(entry)  # bytes before the first value
        self._header_seen = marked  # a marked array may have a later header, not to be checked

    def read(self, start: int = 0, stop: int | None = None) -> Array:
        """Return [start:stop); raises FormatError where a checksum does not match."""
        stop = self.length if stop is None else stop
        width = self.dtype.itemsize
        first = start * width // CRC_BLOCK
        begin, end = first * CRC_BLOCK, self.length * width
        end = min(end, -(-stop * width // CRC_BLOCK) * CRC_BLOCK)
        raw = np.empty(max(0, end - begin), np.uint8)
        with self._opened() as handle:
            if self.offset and not self._header_seen:
                self._check_header(handle)
                self._header_seen = True
            handle.seek(self.offset + begin)
            if handle.readinto(raw) != len(raw):  # type: ignore[attr-defined]
                raise FormatError("shorter than meta.json says", where=self.path, do=self._do)
        for k in range(0, len(raw), CRC_BLOCK):
            index = first + k // CRC_BLOCK
            if zlib.crc32(raw[k : k + CRC_BLOCK].data) != self._crcs[index]:
                what = f"edited or damaged: the checksum of MiB {index} differs"
                raise FormatError(what, where=self.path, do=self._do)
        values: Array = raw.view(self.dtype)
        return values[start - begin // width : stop - begin // width]

    def verify(self) -> None:
        """Read all values, some MiB at a time; raises FormatError for a damaged one."""
        step = _VERIFIED // self.dtype.itemsize
        for start in range(0, self.length, step):
            self.read(start, min(start + step, self.length))

    def _opened(self) -> BinaryIO:
        try:
            return open(self.path, "rb")
        except OSError as error:
            raise FormatError(f"cannot be read: {error.strerror}", where=self.path) from None

    def _check_header(self, handle: BinaryIO) -> None:
        if handle.read(HEADER) != npy_header(self.dtype, self.length):
            raise FormatError("header does not match meta.json", where=self.path, do=self._do)


class ArrayWriter:
    """Appends to a .npy file (or a plain one, without header) with a CRC-32 per MiB.

    named: what errors call the store, by default the directory of the file.
    """

    def __init__(
        self, path: Path, dtype: np.dtype[Any], header: int, named: Path | None = None
    ) -> None:
        self._path, self._dtype, self._header = path, dtype.newbyteorder("<"), header
        self._named = named or path.parent
        self._crcs: list[int] = []
        self._partial = 0  # bytes since the last whole MiB
        self.length = 0
        with write_errors(self._named / path.name):
            self._file = WatchedFile(path, "x")
            self._file.write(b"\0" * header)

    @classmethod
    def reopen(cls, folder: Path, entry: Mapping[str, Any], named: Path) -> Self:
        """Resume appending where `entry` was taken; later values are truncated.

        The bytes up to there must have been checked (`marked_array`). Raises WriteError.
        """
        writer = cls.__new__(cls)
        writer._path, writer._dtype = folder / entry["file"], np.dtype(entry["dtype"])
        writer._named = named
        writer._header, writer._crcs, writer.length = HEADER, list(entry["crc32"]), entry["length"]
        size = writer.length * writer._dtype.itemsize
        writer._partial = size % CRC_BLOCK
        with write_errors(writer._path):
            writer._file = WatchedFile(writer._path, "r+")
            writer._file.truncate(HEADER + size)
            writer._file.seek(0, os.SEEK_END)
        return writer

    def write(self, values: Array) -> None:
        """Append values, converted to the dtype of the array."""
        values = np.ascontiguousarray(values, self._dtype)
        raw = memoryview(values.data).cast("B") if len(values) else memoryview(b"")
        for piece in self._crc_pieces(raw):
            last = self._crcs.pop() if self._partial else 0
            self._crcs.append(zlib.crc32(piece, last))
            self._partial = (self._partial + len(piece)) % CRC_BLOCK
        self.length += len(values)
        with write_errors(self._named):
            while raw:
                raw = raw[self._file.write(raw) :]

    def entry(self) -> dict[str, Any]:
        """Write the header of the present length, and return the entry for meta.json."""
        if self._header:
            with write_errors(self._named):
                self._file.seek(0)
                self._file.write(npy_header(self._dtype, self.length))
                self._file.seek(0, os.SEEK_END)
        named = {"file": self._path.name, "dtype": self._dtype.str, "length": self.length}
        return {**named, "crc32": list(self._crcs)}

    def finish(self, durable: bool) -> dict[str, Any]:
        """Finish the file and return its entry for meta.json; durable: fsync it."""
        entry = self.entry()
        if durable:
            with write_errors(self._named):
                self._file.sync()
        self.close()
        return entry

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _crc_pieces(self, raw: memoryview) -> Iterator[memoryview]:
        at = 0
        while at < len(raw):
            size = min(len(raw) - at, CRC_BLOCK - self._partial)
            yield raw[at : at + size]
            at += size


def marked_array(folder: Path, entry: Any) -> StoredArray:
    """Return an array of a mark (StoreWriter.mark); reading it checks its bytes.

    Raises FormatError where the mark is malformed, or the file missing or too short.
    """
    if not entry_well_formed(entry):
        raise FormatError("its checkpoint record is damaged", where=folder)
    array = StoredArray(folder / entry["file"], entry, do="start over with --force", marked=True)
    try:
        short = array.path.stat().st_size < part_bytes(entry)
    except OSError:
        short = True
    if short:
        raise FormatError("missing or truncated", where=array.path)
    return array
