"""The arrays of a store: each written to its end, noting a CRC for each MiB, and read by ranges."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Array
from wordgeom.storage.files import WatchedFile, write_error
from wordgeom.storage.meta import (
    CRC_BLOCK,
    HEADER,
    REMAKE,
    entry_well_formed,
    header_bytes,
    npy_header,
    part_bytes,
)


class StoredArray:
    """One part of a store: reads ranges of it, checking the CRC of each MiB that it touches."""

    def __init__(self, path: Path, entry: dict[str, Any], *, marked: bool = False) -> None:
        self.path = path
        self.dtype = np.dtype(entry["dtype"])
        self.length: int = entry["length"]
        self._crcs: list[int] = entry["crc32"]
        self.offset = header_bytes(entry)  # bytes before the first value
        self._header_seen = marked  # it may tell of a later mark, which nothing names

    def read(self, start: int = 0, stop: int | None = None) -> Array:
        """Return [start:stop]; raises FormatError where the bytes are not those written."""
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
                raise FormatError("is shorter than meta.json says", where=self.path, do=REMAKE)
        for k in range(0, len(raw), CRC_BLOCK):
            index = first + k // CRC_BLOCK
            if zlib.crc32(raw[k : k + CRC_BLOCK].data) != self._crcs[index]:
                found = f"another checksum in MiB {index}"
                raise FormatError("was edited or damaged", where=self.path, found=found, do=REMAKE)
        whole: Array = raw.view(self.dtype)
        return whole[start - begin // width : stop - begin // width]

    def _opened(self) -> BinaryIO:
        try:
            return open(self.path, "rb")
        except OSError as error:
            raise FormatError("cannot be read", where=self.path, found=error.strerror) from None

    def _check_header(self, handle: BinaryIO) -> None:
        if handle.read(HEADER) != npy_header(self.dtype, self.length):
            raise FormatError("has another header than meta.json says", where=self.path, do=REMAKE)


class ArrayWriter:
    """Appends to one .npy file (or, without header, a plain one), noting a CRC for each MiB."""

    def __init__(self, path: Path, dtype: np.dtype[Any], header: int) -> None:
        self._path, self._dtype, self._header = path, dtype.newbyteorder("<"), header
        self._crcs: list[int] = []
        self._partial = 0  # bytes since the last whole MiB
        self.length = 0
        try:
            self._file = WatchedFile(path, "x")
            self._file.write(b"\0" * header)
        except OSError as error:
            raise write_error(path, error) from error

    @classmethod
    def reopen(cls, folder: Path, entry: Mapping[str, Any]) -> Self:
        """Go on with an array where its `entry` was taken; what lies behind is cut off.

        Its bytes must have been checked (`marked_array`). Raises WriteError.
        """
        made = cls.__new__(cls)
        made._path, made._dtype = folder / entry["file"], np.dtype(entry["dtype"])
        made._header, made._crcs, made.length = HEADER, list(entry["crc32"]), entry["length"]
        size = made.length * made._dtype.itemsize
        made._partial = size % CRC_BLOCK
        try:
            made._file = WatchedFile(made._path, "r+")
            made._file.truncate(HEADER + size)
            made._file.seek(0, os.SEEK_END)
        except OSError as error:
            raise write_error(made._path, error) from error
        return made

    def write(self, values: Array) -> None:
        """Append values; they are converted to the array's type."""
        values = np.ascontiguousarray(values, self._dtype)
        raw = memoryview(values.data).cast("B") if len(values) else memoryview(b"")
        for piece in self._crc_pieces(raw):
            last = self._crcs.pop() if self._partial else 0
            self._crcs.append(zlib.crc32(piece, last))
            self._partial = (self._partial + len(piece)) % CRC_BLOCK
        self.length += len(values)
        try:
            while raw:
                raw = raw[self._file.write(raw) :]
        except OSError as error:
            raise write_error(self._path.parent, error) from error

    def entry(self) -> dict[str, Any]:
        """Write the header for what there is, and return the entry that meta.json has of it."""
        try:
            if self._header:
                self._file.seek(0)
                self._file.write(npy_header(self._dtype, self.length))
                self._file.seek(0, os.SEEK_END)
        except OSError as error:
            raise write_error(self._path.parent, error) from error
        named = {"file": self._path.name, "dtype": self._dtype.str, "length": self.length}
        return {**named, "crc32": list(self._crcs)}

    def finish(self, durable: bool) -> dict[str, Any]:
        """End the file and return its entry for meta.json."""
        entry = self.entry()
        try:
            if durable:
                self._file.sync()
        except OSError as error:
            raise write_error(self._path.parent, error) from error
        self.close()
        return entry

    def close(self) -> None:
        """Let go of the file."""
        self._file.close()

    def _crc_pieces(self, raw: memoryview) -> Iterator[memoryview]:
        at = 0
        while at < len(raw):
            size = min(len(raw) - at, CRC_BLOCK - self._partial)
            yield raw[at : at + size]
            at += size


def marked_array(folder: Path, entry: Any) -> StoredArray:
    """Return an array of a mark (StoreWriter.mark), to be read and so checked.

    Raises FormatError where the mark is not one, or the file is not there or too short.
    """
    if not entry_well_formed(entry):
        raise FormatError("its mark was edited", where=folder)
    array = StoredArray(folder / entry["file"], entry, marked=True)
    try:
        short = array.path.stat().st_size < part_bytes(entry)
    except OSError:
        short = True
    if short:
        raise FormatError("is missing or was cut", where=array.path)
    return array
