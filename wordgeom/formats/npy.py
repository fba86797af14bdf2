"""Read NumPy's .npy format, as a file or an archive member, without ever unpickling objects.

The size that a header declares is checked against the file before anything is allocated.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.types import Array, Float64

MAGIC = b"\x93NUMPY"
NUMBERS = "biuf"  # dtype kinds of real numbers: booleans, integers, floats
_LENGTHS = {1: 2, 2: 4, 3: 4}  # bytes of the header's length field, by version
_MAX_HEADER = 10_000  # bytes; a matrix takes 118
_BLOCK = 1 << 24
_SAVE = "save numbers with matrix.astype(float), names with np.array(names, dtype=str)"


@dataclass(frozen=True)
class Header:
    """A .npy header: shape, order, dtype; start: offset of the data."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int

    @property
    def nbytes(self) -> int:
        """Bytes of the array."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(source: IO[bytes], size: int, where: str | Path) -> Header:
    """Read the header of a file or member of `size` bytes, and leave `source` after it.

    Raises InputError for an array of objects, FormatError for a size that does not match.
    """
    magic = source.read(8)
    width = _LENGTHS.get(magic[6]) if magic.startswith(MAGIC) and len(magic) == 8 else None
    if width is None:
        do, found = "write it with np.save", repr(magic) if magic else "an empty file"
        raise FormatError("not in NumPy's format", where=where, found=found, do=do)
    lead = source.read(width)
    length = int.from_bytes(lead, "little")
    if length > _MAX_HEADER:
        raise FormatError(f"header of {length:,} bytes, which is too long", where=where)
    parsed = _parse_header(lead + source.read(length), width, where)
    header = Header(*parsed, start=8 + width + length)
    if header.dtype.hasobject:
        dtype = f"dtype {header.dtype}"[:80]
        what = f"contains Python objects ({dtype}), which are never unpickled"
        raise InputError(what, where=where, do=_SAVE)
    if header.start + header.nbytes != size:
        raise _size_error(header, size - header.start, where)
    return header


def read_body(source: IO[bytes], header: Header, where: str | Path, kinds: str = NUMBERS) -> Array:
    """Return the array after the header.

    Raises InputError for a dtype whose kind is not in `kinds`, FormatError for truncated data.
    """
    check_kind(header, where, kinds)
    flat = read_items(source, header, math.prod(header.shape), where)
    return flat.reshape(header.shape[::-1]).T if header.fortran else flat.reshape(header.shape)


def check_kind(header: Header, where: str | Path, kinds: str) -> None:
    """Raise InputError for a dtype whose kind is not in `kinds`."""
    if header.dtype.kind not in kinds or header.dtype.itemsize == 0:
        wanted = "text" if "U" in kinds else "real numbers"
        found = f"dtype {header.dtype}"[:80]
        raise InputError(f"must contain {wanted}", where=where, found=found, do=_SAVE)


def read_items(source: IO[bytes], header: Header, count: int, where: str | Path) -> Array:
    """Return the next `count` items, flat. Raises FormatError for truncated data."""
    buffer = np.empty(count * header.dtype.itemsize, dtype=np.uint8)
    view, at = buffer.data, 0
    while at < len(view):
        chunk = source.read(min(_BLOCK, len(view) - at))
        if not chunk:
            raise _size_error(header, at, where)
        view[at : at + len(chunk)] = chunk
        at += len(chunk)
    items: Array = buffer.view(header.dtype)
    return items


def as_float64(array: Array) -> Float64:
    """Return an array of real numbers as float64 in C-order, without a copy if possible."""
    if array.dtype.kind == "b":
        array = array.view(np.uint8) != 0  # a byte of a broken file may be neither 0 nor 1
    with np.errstate(over="ignore"):  # longdouble may overflow to infinity, which callers reject
        return np.ascontiguousarray(array, dtype=np.float64)


def _parse_header(data: bytes, width: int, where: str | Path) -> tuple[tuple[int, ...], bool, Any]:
    read = (
        np.lib.format.read_array_header_1_0 if width == 2 else np.lib.format.read_array_header_2_0
    )
    try:
        # NumPy warns about headers written by Python 2, and reads them correctly.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape, fortran, dtype = read(BytesIO(data))
    except Exception as error:  # NumPy raises many types of errors for a broken header
        what = "broken header: " + " ".join(str(error).split())[:80]
        raise FormatError(what, where=where, do="write it again with np.save") from None
    if not all(type(n) is int and n >= 0 for n in shape):
        raise FormatError(f"impossible shape in the header: {str(shape)[:80]}", where=where)
    return shape, fortran, dtype


def _size_error(header: Header, found: int, where: str | Path) -> FormatError:
    shape = " × ".join(f"{n:,}" for n in header.shape) or "one"
    return FormatError(
        f"the header declares {shape} of {header.dtype}, {header.nbytes:,} bytes",
        where=where,
        found=f"{max(found, 0):,}",
        do="the file is truncated or was edited; write it again",
    )
