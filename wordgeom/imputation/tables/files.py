"""Open a table's file, and check the size of a table against the memory limit."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import exceeding
from wordgeom.storage import opening

_SHARE = 4  # a table may take memory / 4: points, graph and vectors need the rest


def opened(path: Path) -> AbstractContextManager[BinaryIO]:
    """Open a regular file for reading. Raises MissingInputError for anything else."""
    return opening.opened(path, "a table")


def table_bytes(memory: int) -> int:
    """Return the bytes that a table may take of `memory` bytes."""
    return memory // _SHARE


def check_size(rows: int, columns: int, memory: int, where: str | Path) -> None:
    """Raise InputError for a table (rows × columns, 8 bytes per number) that exceeds its share."""
    needed = 8 * rows * columns
    if needed > table_bytes(memory):
        need, limit = exceeding(needed, table_bytes(memory))
        raise InputError(
            f"{rows:,} × {columns:,} numbers take {need}, more than the limit of {limit}"
            " (a quarter of --memory)",
            where=where,
            do="reduce the columns, for example by truncated SVD, or raise --memory",
        )
