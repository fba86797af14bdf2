"""A long array of ids that stays in memory while it is small and goes to a scratch file after."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import BinaryIO, cast

import numpy as np

from wordgeom._files import Closing
from wordgeom.errors import WriteError
from wordgeom.types import Int32


class Spool(Closing):
    """An append-only array of int32; `limit` bytes are kept in memory."""

    def __init__(self, limit: int, folder: str | None) -> None:
        self._limit, self._folder = limit, folder
        self._pieces: list[Int32] = []
        self._file: BinaryIO | None = None
        self._whole: Int32 | None = None
        self.length = 0

    def close(self) -> None:
        """Free the memory or the scratch file."""
        self._pieces.clear()
        self._whole = None
        if self._file is not None:
            self._file.close()
            self._file = None

    def holds(self, length: int) -> bool:
        """Tell whether so many ids stay in memory."""
        return 4 * length <= self._limit

    def append(self, ids: Int32) -> None:
        """Add ids at the end; the array is kept, not copied. Raises WriteError."""
        self.length += len(ids)
        if self._file is None and not self.holds(self.length):
            self._file = self._scratch()
            for piece in self._pieces:
                self._write(piece)
            self._pieces.clear()
        if self._file is None:
            self._pieces.append(ids)
        else:
            self._write(ids)

    def pieces(self, lengths: list[int]) -> Iterator[Int32]:
        """Yield the content in pieces of the given lengths, letting go of each in memory."""
        if self._file is None and [len(p) for p in self._pieces] == lengths:
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
        if self._file is not None:
            out = np.empty(max(0, stop - start), np.int32)
            self._file.seek(4 * start)
            self._file.readinto(out)  # type: ignore[attr-defined]
            return out
        if self._whole is None:
            self._whole = self._pieces[0] if len(self._pieces) == 1 else self._joined()
            self._pieces = [self._whole]
        return self._whole[start:stop]

    def _joined(self) -> Int32:
        if not self._pieces:
            return np.empty(0, np.int32)
        base = self._pieces[0].base
        if isinstance(base, np.ndarray) and all(p.base is base for p in self._pieces):
            return base[: self.length]  # pieces that were filled one behind the other
        return np.concatenate(self._pieces)

    def _scratch(self) -> BinaryIO:
        try:
            return cast(BinaryIO, tempfile.TemporaryFile(dir=self._folder, buffering=0))
        except OSError as error:
            raise self._error(error) from error

    def _write(self, ids: Int32) -> None:
        raw = ids.data.cast("B") if len(ids) else memoryview(b"")
        try:
            while raw:
                raw = raw[cast(BinaryIO, self._file).write(raw) :]
        except OSError as error:
            raise self._error(error) from error

    def _error(self, error: OSError) -> WriteError:
        reason = (error.strerror or str(error)).lower()
        do = "free room there or name another folder with --tmp-dir"
        where = self._folder or tempfile.gettempdir()
        return WriteError(f"scratch space: {reason}", where=where, do=do)
