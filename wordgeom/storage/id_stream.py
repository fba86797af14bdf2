"""A long array of ids that stays in memory while it is small and goes to a file after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol, Self

import numpy as np

from wordgeom.core.types import Int32
from wordgeom.storage.files import Closing
from wordgeom.storage.scratch import ArrayFile

_STEP = 1 << 22  # ids copied at once: Ctrl-C is heeded in between


class Ids(Protocol):
    """A stream of ids, wherever it is held."""

    length: int

    @property
    def in_place(self) -> bool:
        """Whether `around` copies nothing."""

    def read(self, start: int, stop: int) -> Int32:
        """Return ids[start:stop]; what lies outside is left out."""

    def around(self, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
        """Return ids with at least `reach` around [begin:end), and where `begin` lies in them.

        nowhere: the id of what lies outside.
        """

    def close(self) -> None:
        """Free what holds it."""


class Sink(Ids, Protocol):
    """A stream of ids that is being written."""

    def append(self, ids: Int32) -> None:
        """Add ids at the end."""


def read_around(stream: Ids, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
    """Return what `Ids.around` does, in an array of its own where it passes the stream's ends."""
    if reach <= begin and end + reach <= stream.length:
        return stream.read(begin - reach, end + reach), reach
    return copy_around(stream, begin, end, reach, nowhere)


def copy_around(stream: Ids, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
    """Return what `Ids.around` does, in an array of its own that is filled step by step."""
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
    """An append-only array of int32; `limit` bytes are kept in memory, all of more on a shelf."""

    in_place = False

    def __init__(self, limit: int, shelf: ArrayFile) -> None:
        self._limit, self._shelf = limit, shelf
        self._pieces: list[Int32] = []
        self._on_disk = False
        self._whole: Int32 | None = None
        self.length = 0

    @classmethod
    def of(cls, shelf: ArrayFile, length: int) -> Self:
        """Return the ids that stand on a shelf."""
        made = cls(0, shelf)
        made._on_disk, made.length = True, length
        return made

    def close(self) -> None:
        """Free the memory or the file."""
        self._pieces.clear()
        self._whole = None
        self._shelf.close()

    def fits(self, length: int) -> bool:
        """Tell whether so many ids stay in memory."""
        return 4 * length <= self._limit

    def append(self, ids: Int32) -> None:
        """Add ids at the end; the array is kept, not copied. Raises WriteError."""
        self.length += len(ids)
        if self._on_disk:
            self._shelf.put(ids)
            return
        self._pieces.append(ids)
        if not self.fits(self.length):
            self.flush()

    def flush(self) -> None:
        """Put on the shelf what is in memory. Raises WriteError."""
        self._on_disk = True
        for piece in self._pieces:
            self._shelf.put(piece)
        self._pieces.clear()

    def pieces(self, lengths: list[int]) -> Iterator[Int32]:
        """Yield the content in pieces of the given lengths, letting go of each in memory."""
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
        """Return ids[start:stop]; what lies outside the array is left out."""
        start, stop = max(0, start), min(stop, self.length)
        if self._on_disk:
            out = np.empty(max(0, stop - start), np.int32)
            for begin in range(0, len(out), _STEP):
                self._shelf.read(4 * (start + begin), out[begin : begin + _STEP])
            return out
        if self._whole is None:
            self._whole = self._pieces[0] if len(self._pieces) == 1 else self._joined()
            self._pieces = [self._whole]
        return self._whole[start:stop]

    def around(self, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
        """Return ids with at least `reach` around [begin:end), and where `begin` lies in them."""
        return read_around(self, begin, end, reach, nowhere)

    def _joined(self) -> Int32:
        if not self._pieces:
            return np.empty(0, np.int32)
        base = self._pieces[0].base
        if isinstance(base, np.ndarray) and all(p.base is base for p in self._pieces):
            return base[: self.length]  # pieces that were filled one behind the other
        out, at = np.empty(self.length, np.int32), 0
        for piece in self._pieces:
            out[at : at + len(piece)] = piece
            at += len(piece)
        return out
