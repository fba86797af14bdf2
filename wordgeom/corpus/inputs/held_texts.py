"""Documents of a Python caller as an input: JSON Lines that lie in no file and are read once."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from typing import BinaryIO, cast

HELD = "<texts>"  # stands for them among the names of files
_held: ContextVar[Iterable[bytes] | None] = ContextVar("held", default=None)


@contextlib.contextmanager
def holding(lines: Iterable[bytes]) -> Iterator[None]:
    """Let `HELD` name these lines while the block runs."""
    token = _held.set(lines)
    try:
        yield
    finally:
        _held.reset(token)


def is_held(name: str) -> bool:
    """Return whether a name stands for the documents of the caller."""
    return name == HELD and _held.get() is not None


def open_held() -> BinaryIO:
    """Return the documents as a file, which can be read once."""
    return cast(BinaryIO, io.BufferedReader(_Lines(_held.get() or ())))


class _Lines(io.RawIOBase):
    """An iterator of bytes as a file."""

    def __init__(self, lines: Iterable[bytes]) -> None:
        self._lines, self._rest = iter(lines), memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, room: bytearray | memoryview) -> int:  # type: ignore[override]
        """Fill the room as far as the next line goes; return 0 at the end."""
        while not self._rest and (line := next(self._lines, None)) is not None:
            self._rest = memoryview(line)
        size = min(len(room), len(self._rest))
        room[:size], self._rest = self._rest[:size], self._rest[size:]
        return size
