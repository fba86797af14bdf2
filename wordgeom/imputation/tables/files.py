"""A table's file, opened to read; and how much of a table memory can take."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from wordgeom.core.errors import InputError
from wordgeom.runtime.run_options import GIGABYTE
from wordgeom.storage import opening

_SHARE = 4  # the part of memory that a table takes: its points, its graph and the vectors follow


def opened(path: Path) -> AbstractContextManager[BinaryIO]:
    """Open a regular file to read. Raises MissingInputError for anything else."""
    return opening.opened(path, "a table")


def table_bytes(memory: int) -> int:
    """Return how many of `memory` bytes a table's numbers may take."""
    return memory // _SHARE


def check_size(rows: int, columns: int, memory: int, where: str | Path) -> None:
    """Refuse a table (rows × columns, 8 bytes a number) that memory has no place for."""
    needed = 8 * rows * columns
    if needed > table_bytes(memory):
        raise InputError(
            f"{rows:,} × {columns:,} numbers take {needed / GIGABYTE:,.3g} GB",
            where=where,
            found=f"{table_bytes(memory) / GIGABYTE:,.3g} GB for them, a quarter of --memory",
            do="reduce its columns first, by a truncated SVD say, or raise --memory",
        )
