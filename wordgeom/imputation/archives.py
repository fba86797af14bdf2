"""NumPy's .npz archives: a dense matrix, or a sparse one as SciPy's save_npz writes it.

Members are read here and not by np.load, so that nothing is unpickled or inflated on a promise.
"""

from __future__ import annotations

import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import numpy as np

from wordgeom.errors import FormatError, InputError, WordgeomError
from wordgeom.imputation.arrays import (
    NUMBERS,
    Header,
    as_float64,
    check_matrix,
    read_body,
    read_header,
)
from wordgeom.imputation.files import most_bytes, opened
from wordgeom.imputation.sparse import FORMAT, read_sparse
from wordgeom.imputation.table import Table
from wordgeom.types import Array

NAMES = "names"
_SUFFIX = ".npy"
_DEFLATED = 1032  # bytes that a byte of deflate can stand for, at most
_ENCRYPTED = 1  # a member's flag


class Archive:
    """An open .npz file; `where` names it, or a member, in messages."""

    def __init__(self, packed: zipfile.ZipFile, path: Path, memory: int) -> None:
        self._packed, self._path, self.memory = packed, path, memory
        self.members = [
            name.removesuffix(_SUFFIX) for name in packed.namelist() if name.endswith(_SUFFIX)
        ]

    def where(self, member: str) -> str:
        """Return what a message calls a member."""
        return f"{self._path} [{member}]"

    def header(self, member: str) -> Header:
        """Return the header of a member. Raises FormatError; InputError for objects."""
        info = self._info(member)
        with self._packed.open(info) as source:
            return read_header(source, info.file_size, self.where(member))

    def array(self, member: str, kinds: str = NUMBERS) -> Array:
        """Return a member's array, whose type must be of the `kinds`. Raises as `read_body`."""
        info, where = self._info(member), self.where(member)
        with self._packed.open(info) as source:
            header = read_header(source, info.file_size, where)
            if header.bytes > most_bytes(self.memory):
                found, do = f"{header.bytes:,} bytes", "raise --memory"
                raise InputError("is too large for --memory", where=where, found=found, do=do)
            return read_body(source, header, where, kinds)

    def _info(self, member: str) -> zipfile.ZipInfo:
        """Return a member's entry. Raises FormatError where it cannot be what NumPy wrote."""
        if member not in self.members:
            what = f"lacks the member {member}"
            raise FormatError(what, where=self._path, found=", ".join(self.members)[:80])
        info = self._packed.getinfo(member + _SUFFIX)
        known = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if not known or info.flag_bits & _ENCRYPTED:
            do = "write it with np.savez or save_npz"
            raise FormatError("is packed in another way", where=self.where(member), do=do)
        stored = min(info.compress_size, self._path.stat().st_size)
        if info.file_size > stored * _DEFLATED:
            raise FormatError(
                f"promises {info.file_size:,} bytes",
                where=self.where(member),
                found=f"{stored:,} packed, which cannot hold them",
                do="the file is broken; write it again",
            )
        return info


def read_npz(path: Path, memory: int) -> Table:
    """Read the one matrix of an archive, and `names` where it holds them.

    Raises FormatError for a broken archive, InputError where there is not one matrix that fits.
    """
    with _opened(path, memory) as archive:
        if FORMAT in archive.members:
            table = Table(read_sparse(archive, path))
        else:
            member, others = _matrix(archive, path)
            check_matrix(archive.header(member), memory, archive.where(member))
            listed = ", ".join(others[:5])
            notes = (f"{path}: arrays left unread: {listed}",) if others else ()
            table = Table(as_float64(archive.array(member)), notes=notes)
        if NAMES not in archive.members:
            return table
        return replace(table, names=_names(archive, len(table.matrix)))


def has_names(path: Path) -> bool:
    """Tell whether an archive holds the names of its rows."""
    with _opened(path, 0) as archive:
        return NAMES in archive.members


@contextmanager
def _opened(path: Path, memory: int) -> Iterator[Archive]:
    with opened(path) as source:
        try:
            with zipfile.ZipFile(source) as packed:
                yield Archive(packed, path, memory)
        except WordgeomError:
            raise
        # All that zipfile raises of a broken or strange archive.
        except (
            zipfile.BadZipFile, zlib.error, EOFError, LookupError, NotImplementedError, OSError,
            RuntimeError, ValueError,
        ) as error:  # fmt: skip
            do = "fetch or write it again"
            raise FormatError("broken archive", where=path, found=error, do=do) from None


def _matrix(archive: Archive, path: Path) -> tuple[str, list[str]]:
    """Return the member that is a matrix, and the members that are not looked at."""
    others = [member for member in archive.members if member != NAMES]
    flat = [member for member in others if len(archive.header(member).shape) == 2]
    if len(flat) != 1:
        found = ", ".join(flat[:5]) or f"none among {', '.join(others[:5]) or 'no array'}"
        do = "save one: np.savez(FILE, matrix=…, names=…)"
        raise InputError("must hold one matrix", where=path, found=found, do=do)
    return flat[0], [member for member in others if member != flat[0]]


def _names(archive: Archive, rows: int) -> list[str]:
    where = archive.where(NAMES)
    texts = archive.array(NAMES, kinds="U")
    if texts.shape != (rows,):
        found = f"an array of shape {texts.shape}"
        raise InputError(f"must hold a name for each of {rows:,} rows", where=where, found=found)
    # NumPy takes any 4 bytes for a character; Python stops at one that is none.
    texts = texts.astype(texts.dtype.newbyteorder("="))
    if texts.size and int(texts.view(np.uint32).max()) > sys.maxunicode:
        raise FormatError("is not text", where=where, found="a character beyond U+10FFFF")
    return [str(text) for text in texts.tolist()]
