"""A file of matrix entries, as every reader of one hands them out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

from wordgeom.core.types import Float64, Int64

BLOCK = 1 << 20  # entries read at once
Block = tuple[Int64, Int64, Float64]  # rows and columns, from 0, and values


class EntryFile(Protocol):
    """Entries of a words × words matrix, in any order, that can be read again."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns that the file claims."""

    @property
    def symmetric(self) -> bool:
        """Whether an entry (i, j) stands for (j, i) too."""

    @property
    def entries(self) -> int | None:
        """How many there are, where that is known before they are read."""

    def blocks(self) -> Iterator[Block]:
        """Yield all entries. Raises FormatError, InputError."""
