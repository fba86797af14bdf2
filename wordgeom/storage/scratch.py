"""Arrays put behind each other in a file and read back: a scratch file without a name, mostly."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO, Protocol, cast

from wordgeom.core.errors import WriteError
from wordgeom.core.types import Array
from wordgeom.storage.files import Closing


class ArrayFile(Protocol):
    """Room for arrays, for any number of threads."""

    def put(self, array: Array) -> int:
        """Write an array behind all others and return where; raises WriteError."""

    def read(self, start: int, out: Array) -> None:
        """Fill `out` with what lies at `start`; it must have been written."""

    def close(self) -> None:
        """Give the room back, or let go of it."""


class Scratch(Closing):
    """Room in `folder` for arrays, for any number of threads; made when it is first needed."""

    def __init__(self, folder: str | None) -> None:
        self._folder = folder
        self._file: BinaryIO | None = None
        self._closed = False
        self._users = 0
        self._idle = threading.Condition()
        self.size = 0

    def close(self) -> None:
        """Give the room back. A thread that is late finds the file closed, and never another's."""
        with self._idle:
            self._closed = True
            self._idle.wait_for(lambda: self._users == 0)
            if self._file is not None:
                self._file.close()

    def reserve(self, size: int) -> int:
        """Return where the next `size` bytes are."""
        with self._idle:
            start = self.size
            self.size += size
        return start

    def put(self, array: Array) -> int:
        """Write an array behind all others and return where; raises WriteError."""
        start = self.reserve(array.nbytes)
        self.write(start, array)
        return start

    def write(self, start: int, array: Array) -> None:
        """Write an array to reserved room; raises WriteError."""
        raw = raw_bytes(array)
        try:
            with self._used() as number:
                while raw:
                    done = os.pwrite(number, raw, start)
                    raw, start = raw[done:], start + done
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            do = "free room there or name another folder with --tmp-dir"
            where = self._folder or tempfile.gettempdir()
            raise WriteError(f"scratch space: {reason}", where=where, do=do) from error

    def read(self, start: int, out: Array) -> None:
        """Fill `out` with what lies at `start`; it must have been written."""
        raw = raw_bytes(out)
        with self._used() as number:
            while raw:
                done = os.preadv(number, [raw], start)
                raw, start = raw[done:], start + done

    @contextmanager
    def _used(self) -> Iterator[int]:
        """Lend the file's number: nobody closes it meanwhile."""
        with self._idle:
            if self._closed:
                raise ValueError("the scratch file is closed")
            if self._file is None:
                opened = tempfile.TemporaryFile(dir=self._folder, buffering=0)  # noqa: SIM115
                self._file = cast(BinaryIO, opened)
            self._users += 1
        try:
            yield self._file.fileno()
        finally:
            with self._idle:
                self._users -= 1
                self._idle.notify_all()


def raw_bytes(array: Array) -> memoryview:
    """Return the bytes of an array."""
    return memoryview(array.data).cast("B") if array.size else memoryview(b"")
