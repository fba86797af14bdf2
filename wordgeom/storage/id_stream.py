"""Long streams of int32 ids, in memory while they are short and in a file beyond."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Self

import numpy as np

from wordgeom.core.types import Int32
from wordgeom.storage.files import Closing
from wordgeom.storage.scratch import ArrayFile

_STEP = 1 << 22  # ids copied at once, between checks for Ctrl-C


class Ids(Protocol):
    """A stream of ids, in memory or in a file."""

    length: int

    @property
    def in_place(self) -> bool:
        """Whether `around` copies nothing."""

    def read(self, start: int, stop: int) -> Int32:
        """Return ids[start:stop), clipped to the stream."""

    def around(self, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
        """Return the ids of [begin:end) with `reach` or more on both sides, and begin's position.

        nowhere: the id of positions outside the stream.
        """

    def close(self) -> None:
        """Free the memory or the file."""


class Sink(Ids, Protocol):
    """A stream of ids that is being written."""

    def append(self, ids: Int32) -> None:
        """Append ids."""


def read_around(stream: Ids, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
    """Return what `Ids.around` returns, copied only where it passes an end of the stream."""
    if reach <= begin and end + reach <= stream.length:
        return stream.read(begin - reach, end + reach), reach
    return copy_around(stream, begin, end, reach, nowhere)


def copy_around(stream: Ids, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
    """Return what `Ids.around` returns, copied step by step."""
    low, high = begin - reach, end + reach
    out = np.empty(high - low, np.int32)
    first, last = max(low, 0), min(high, stream.length)
    out[: first - low] = nowhere
    out[last - low :] = nowhere
    for start in range(first, last, _STEP):
        stop = min(start + _STEP, last)
        out[start - low : stop - low] = stream.read(start, stop)
    return out, reach


class Spool(Closing):
    """An append-only array of int32: in memory up to `limit` bytes, in a file beyond."""

    in_place = False

    def __init__(self, limit: int, file: ArrayFile) -> None:
        self._limit, self._file = limit, file
        self._pieces: list[Int32] = []
        self._on_disk = False
        self._array: Int32 | None = None
        self.length = 0

    @classmethod
    def of(cls, file: ArrayFile, length: int) -> Self:
        """Return the first `length` ids in a file."""
        spool = cls(0, file)
        spool._on_disk, spool.length = True, length
        return spool

    def close(self) -> None:
        """Free the memory or the file."""
        self._pieces.clear()
        self._array = None
        self._file.close()

    def fits(self, length: int) -> bool:
        """Return whether `length` ids fit in memory."""
        return 4 * length <= self._limit

    def append(self, ids: Int32) -> None:
        """Append ids, without a copy; raises WriteError."""
        self.length += len(ids)
        if self._on_disk:
            self._file.put(ids)
            return
        self._pieces.append(ids)
        if not self.fits(self.length):
            self.flush()

    def flush(self) -> None:
        """Move the ids from memory to the file; raises WriteError."""
        self._on_disk = True
        for piece in self._pieces:
            self._file.put(piece)
        self._pieces.clear()

    def pieces(self, lengths: list[int]) -> Iterator[Int32]:
        """Yield the ids in pieces of the given lengths; a piece in memory is freed."""
        if not self._on_disk and [len(p) for p in self._pieces] == lengths:
            self._pieces.reverse()
            while self._pieces:
                yield self._pieces.pop()
            return
        start = 0
        for length in lengths:
            yield self.read(start, start + length)
            start += length

    def read(self, start: int, stop: int) -> Int32:
        """Return ids[start:stop), clipped to the stream."""
        start, stop = max(0, start), min(stop, self.length)
        if self._on_disk:
            out = np.empty(max(0, stop - start), np.int32)
            for begin in range(0, len(out), _STEP):
                self._file.read(4 * (start + begin), out[begin : begin + _STEP])
            return out
        if self._array is None:
            self._array = self._pieces[0] if len(self._pieces) == 1 else self._joined()
            self._pieces = [self._array]
        return self._array[start:stop]

    def around(self, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
        """Return the ids of [begin:end) with `reach` around them, and begin's position."""
        return read_around(self, begin, end, reach, nowhere)

    def _joined(self) -> Int32:
        if not self._pieces:
            return np.empty(0, np.int32)
        base = self._pieces[0].base
        if isinstance(base, np.ndarray) and all(p.base is base for p in self._pieces):
            return base[: self.length]  # adjacent pieces of one array
        out, at = np.empty(self.length, np.int32), 0
        for piece in self._pieces:
            out[at : at + len(piece)] = piece
            at += len(piece)
        return out
