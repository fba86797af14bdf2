"""The interface of matrix readers: a file as a stream of entries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from wordgeom.core.types import Float64, Int64

BLOCK = 1 << 20  # entries read at once
Block = tuple[Int64, Int64, Float64]  # row and column indices from 0, values


class EntryFile(Protocol):
    """Entries of a words × words matrix in any order; can be read repeatedly."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns that the file declares."""

    @property
    def symmetric(self) -> bool:
        """Whether an entry (i, j) also stands for (j, i)."""

    @property
    def entries(self) -> int | None:
        """Number of entries, None if unknown before reading."""

    def blocks(self) -> Iterator[Block]:
        """Yield all entries. Raises FormatError, InputError."""
