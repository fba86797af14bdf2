"""Arrays in scratch files without a name, on_disk into memory: what is too long to be in_memory.

Mapped pages are the system's to write back and to drop: they take no private memory. The file is
gone with the array, or with the process.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.errors import WriteError
from wordgeom.core.types import Array

Allocate = Callable[[int, DTypeLike], Array]


def in_memory(length: int, dtype: DTypeLike) -> Array:
    """Return room for (length) numbers, in memory."""
    return np.empty(length, dtype)


def on_disk(folder: str | None) -> Allocate:
    """Return what makes room for (length) numbers on a disk, in `folder`; raises WriteError."""

    def allocate(length: int, dtype: DTypeLike) -> Array:
        size = length * np.dtype(dtype).itemsize
        if size == 0:
            return np.empty(0, dtype)
        try:
            with tempfile.TemporaryFile(dir=folder) as file:
                # All of it now: a full disk found later, by a write to a page, ends the process.
                os.posix_fallocate(file.fileno(), 0, size)
                return np.frombuffer(mmap.mmap(file.fileno(), size), dtype)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            do = "free room there or name another folder with --tmp-dir"
            where = folder or tempfile.gettempdir()
            raise WriteError(f"scratch space: {reason}", where=where, do=do) from error

    return allocate
