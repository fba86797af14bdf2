"""Read a file of lines block by block into one buffer of complete lines."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Bytes

_BLOCK = 1 << 22
_MAX_LINE = 1 << 20  # bytes of a line


class LineWindow:
    """A window over a file: text[:stop] is unprocessed and begins with line `number`."""

    def __init__(self, source: BinaryIO, path: Path) -> None:
        self._source, self.path = source, path
        self.text: Bytes = np.empty(_BLOCK + _MAX_LINE, np.uint8)
        self.stop, self.number = 0, 1
        self._ended = False

    def skip(self, count: int) -> None:
        """Skip the next lines."""
        for _ in range(count):
            while (line := self._source.readline(_MAX_LINE)) and not line.endswith(b"\n"):
                pass
        self.number += count

    def read(self) -> bool:
        """Fill the window from the file; return whether it has any text."""
        while not self._ended and self.stop < _MAX_LINE:
            room = self.text[self.stop : -1].data  # the last byte is for a missing line feed
            count = self._source.readinto(room)  # type: ignore[attr-defined]
            if not count:
                self._end()
            self.stop += count
        return self.stop > 0

    def advance(self, at: int, lines: int) -> None:
        """Discard text[:at], which is `lines` lines. Raises FormatError for too long a line."""
        if lines == 0 and self.stop >= _MAX_LINE:
            where, found = f"{self.path} line {self.number}", f"{self.stop:,} bytes"
            raise FormatError("line too long", where=where, found=found)
        self.text[: self.stop - at] = self.text[at : self.stop].copy()
        self.stop, self.number = self.stop - at, self.number + lines

    def _end(self) -> None:
        self._ended = True
        if self.stop and self.text[self.stop - 1] != ord("\n"):
            self.text[self.stop] = ord("\n")
            self.stop += 1
