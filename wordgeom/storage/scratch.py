"""Temporary files: unlinked files in the scratch directory, gone with the process that opened them.

`Scratch` appends arrays and reads them back; `mapped_file` is mapped into memory. A full disk
raises WriteError, which names the directory and --tmp-dir.
"""

from __future__ import annotations

import mmap
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, Protocol, cast

import numpy as np

from wordgeom.core.errors import WriteError
from wordgeom.core.types import Array
from wordgeom.storage.files import Closing


class ArrayFile(Protocol):
    """An append-only file of arrays, for any number of threads."""

    def put(self, array: Array) -> int:
        """Append an array and return its position in bytes; raises WriteError."""

    def read(self, start: int, out: Array) -> None:
        """Fill `out` with the bytes at `start`, which must have been written."""

    def close(self) -> None:
        """Release the file."""


class Scratch(Closing):
    """A temporary file of arrays in `folder`, for any number of threads; created at first use."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._file: BinaryIO | None = None
        self._closed = False
        self._users = 0
        self._idle = threading.Condition()
        self.size = 0

    def close(self) -> None:
        """Free the disk space once no thread uses the file; later uses raise ValueError."""
        with self._idle:
            self._closed = True
            self._idle.wait_for(lambda: self._users == 0)
            if self._file is not None:
                self._file.close()

    def reserve(self, size: int) -> int:
        """Reserve the next `size` bytes and return their position."""
        with self._idle:
            start = self.size
            self.size += size
        return start

    def put(self, array: Array) -> int:
        """Append an array and return its position in bytes; raises WriteError."""
        start = self.reserve(array.nbytes)
        self.write(start, array)
        return start

    def write(self, start: int, array: Array) -> None:
        """Write an array to reserved bytes; raises WriteError."""
        raw = raw_bytes(array)
        with _explained(self._folder), self._used() as number:
            while raw:
                done = os.pwrite(number, raw, start)
                raw, start = raw[done:], start + done

    def read(self, start: int, out: Array) -> None:
        """Fill `out` with the bytes at `start`, which must have been written."""
        raw = raw_bytes(out)
        with self._used() as number:
            while raw:
                done = os.preadv(number, [raw], start)
                raw, start = raw[done:], start + done

    @contextmanager
    def _used(self) -> Iterator[int]:
        """Lend the file descriptor; the file is not closed meanwhile."""
        with self._idle:
            if self._closed:
                raise ValueError("the scratch file is closed")
            if self._file is None:
                self._file = _opened(self._folder)
            self._users += 1
        try:
            yield self._file.fileno()
        finally:
            with self._idle:
                self._users -= 1
                self._idle.notify_all()


def mapped_file(folder: str | None, size: int) -> mmap.mmap:
    """Return a temporary file of `size` ≥ 1 bytes, mapped into memory; raises WriteError."""
    with _explained(folder), _opened(folder) as file:
        # Allocate now: on a full disk, a later write to a page would kill the process.
        os.posix_fallocate(file.fileno(), 0, size)
        return mmap.mmap(file.fileno(), size)


def mapped_array(folder: str | None, shape: tuple[int, int], dtype: np.dtype[Any]) -> Array:
    """Return an array in a temporary file that is mapped into memory; raises WriteError."""
    size = shape[0] * shape[1]
    file = mapped_file(folder, max(1, size * dtype.itemsize))
    return np.frombuffer(file, dtype, size).reshape(shape)


def raw_bytes(array: Array) -> memoryview:
    """Return the bytes of an array, a view."""
    return memoryview(array.data).cast("B") if array.size else memoryview(b"")


def _opened(folder: str | None) -> BinaryIO:
    return cast(BinaryIO, tempfile.TemporaryFile(dir=folder, buffering=0))


@contextmanager
def _explained(folder: str | None) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        do = "free space there or name another directory with --tmp-dir"
        where = folder or tempfile.gettempdir()
        raise WriteError(f"scratch space: {reason}", where=where, do=do) from error
