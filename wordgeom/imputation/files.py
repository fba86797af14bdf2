"""A table's file, opened to read; and how much of a table memory can take."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from wordgeom.errors import InputError, MissingInputError
from wordgeom.runs import GIGABYTE

_SHARE = 4  # the part of memory that a table takes: its points, its graph and the vectors follow


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Open a regular file to read. Raises MissingInputError for anything else."""
    try:
        # Asked before it is opened: opening a pipe would wait for a writer.
        if not stat.S_ISREG(path.stat().st_mode):
            found = "a folder" if path.is_dir() else "a device or pipe"
            raise MissingInputError("is not a file", where=path, found=found, do="name a table")
        with open(path, "rb") as source:
            yield source
    except MissingInputError:
        raise
    except FileNotFoundError:
        raise MissingInputError("no such file", where=path, do="check the path") from None
    except OSError as error:
        if error.errno is None:
            raise
        reason = os.strerror(error.errno).lower()
        raise MissingInputError(f"cannot be read: {reason}", where=path) from error


def most_bytes(memory: int) -> int:
    """Return how many of `memory` bytes a table's numbers may take."""
    return memory // _SHARE


def check_size(rows: int, columns: int, memory: int, where: str | Path) -> None:
    """Refuse a table (rows × columns, 8 bytes a number) that memory has no place for."""
    needed = 8 * rows * columns
    if needed > most_bytes(memory):
        raise InputError(
            f"{rows:,} × {columns:,} numbers take {needed / GIGABYTE:,.3g} GB",
            where=where,
            found=f"{most_bytes(memory) / GIGABYTE:,.3g} GB for them, a quarter of --memory",
            do="reduce its columns first, by a truncated SVD say, or raise --memory",
        )
