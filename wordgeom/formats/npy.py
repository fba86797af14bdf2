"""NumPy's .npy format, alone or inside an archive: numbers are read, objects never unpickled.

What a header promises is held against the bytes that are there before anything is allocated.
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
NUMBERS = "biuf"  # kinds of real numbers: truth values, whole numbers, fractions
_LENGTHS = {1: 2, 2: 4, 3: 4}  # bytes that tell a header's length, by version
_LONGEST = 10_000  # bytes of a header; a matrix takes 118
_BLOCK = 1 << 24
_SAVE = "save numbers by matrix.astype(float), names by np.array(names, dtype=str)"


@dataclass(frozen=True)
class Header:
    """What a .npy header says: shape, order, type; start: where the numbers begin."""

    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[Any]
    start: int

    @property
    def nbytes(self) -> int:
        """Bytes that the array takes."""
        return math.prod(self.shape) * self.dtype.itemsize


def read_header(source: IO[bytes], size: int, where: str | Path) -> Header:
    """Read the header of a file or member of `size` bytes, and leave `source` after it.

    Raises InputError for objects, FormatError where it promises other bytes than there are.
    """
    magic = source.read(8)
    width = _LENGTHS.get(magic[6]) if magic.startswith(MAGIC) and len(magic) == 8 else None
    if width is None:
        do = "write it with np.save"
        raise FormatError("is not NumPy's format", where=where, found=repr(magic), do=do)
    lead = source.read(width)
    length = int.from_bytes(lead, "little")
    if length > _LONGEST:
        raise FormatError("the header is too long", where=where, found=f"{length:,} bytes")
    parsed = _parse_header(lead + source.read(length), width, where)
    header = Header(*parsed, start=8 + width + length)
    if header.dtype.hasobject:
        what = "holds Python objects, which are never unpickled"
        raise InputError(what, where=where, found=f"dtype {header.dtype}"[:80], do=_SAVE)
    if header.start + header.nbytes != size:
        raise _size_error(header, size - header.start, where)
    return header


def read_body(source: IO[bytes], header: Header, where: str | Path, kinds: str = NUMBERS) -> Array:
    """Return the array after the header.

    Raises InputError for a type that is none of `kinds`, FormatError where the bytes end too soon.
    """
    check_kind(header, where, kinds)
    flat = read_items(source, header, math.prod(header.shape), where)
    return flat.reshape(header.shape[::-1]).T if header.fortran else flat.reshape(header.shape)


def check_kind(header: Header, where: str | Path, kinds: str) -> None:
    """Raise InputError for a type that is none of `kinds`."""
    if header.dtype.kind not in kinds or header.dtype.itemsize == 0:
        wanted = "text" if "U" in kinds else "real numbers"
        found = f"dtype {header.dtype}"[:80]
        raise InputError(f"must hold {wanted}", where=where, found=found, do=_SAVE)


def read_items(source: IO[bytes], header: Header, count: int, where: str | Path) -> Array:
    """Return the next `count` items, flat. Raises FormatError where the bytes end too soon."""
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
    """Return an array of real numbers in float64 and C-order, itself where it is so already."""
    if array.dtype.kind == "b":
        array = array.view(np.uint8) != 0  # a byte of a broken file may be neither 0 nor 1
    with np.errstate(over="ignore"):  # a longer type's numbers become infinite, and are refused
        return np.ascontiguousarray(array, dtype=np.float64)


def _parse_header(data: bytes, width: int, where: str | Path) -> tuple[tuple[int, ...], bool, Any]:
    read = (
        np.lib.format.read_array_header_1_0 if width == 2 else np.lib.format.read_array_header_2_0
    )
    try:
        # It warns of headers that Python 2 wrote, which are read all the same.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            shape, fortran, dtype = read(BytesIO(data))
    except Exception as error:  # the parser of a broken header raises nearly anything
        found = " ".join(str(error).split())[:80]
        do = "write it again with np.save"
        raise FormatError("the header cannot be read", where=where, found=found, do=do) from None
    if not all(type(n) is int and n >= 0 for n in shape):
        raise FormatError("the header's shape is impossible", where=where, found=str(shape)[:80])
    return shape, fortran, dtype


def _size_error(header: Header, found: int, where: str | Path) -> FormatError:
    shape = " × ".join(f"{n:,}" for n in header.shape) or "one"
    return FormatError(
        f"the header promises {shape} of {header.dtype}, {header.nbytes:,} bytes",
        where=where,
        found=f"{max(found, 0):,}",
        do="the file was cut or edited; write it again",
    )
