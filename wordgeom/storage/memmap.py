"""Allocators of large arrays: in memory, or in a temporary file that is mapped into memory.

The operating system writes mapped pages back and evicts them under pressure, so that they do not
count as private memory. The file is gone with the array.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.types import Array
from wordgeom.storage.scratch import mapped_file

Allocate = Callable[[int, DTypeLike], Array]


def in_memory(length: int, dtype: DTypeLike) -> Array:
    """Return an uninitialised array of `length` numbers in memory."""
    return np.empty(length, dtype)


def on_disk(folder: str | None) -> Allocate:
    """Return an allocator of arrays in temporary files in `folder`; it raises WriteError."""

    def allocate(length: int, dtype: DTypeLike) -> Array:
        size = length * np.dtype(dtype).itemsize
        return np.frombuffer(mapped_file(folder, size), dtype) if size else np.empty(0, dtype)

    return allocate
