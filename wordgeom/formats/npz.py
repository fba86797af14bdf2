"""Read NumPy's .npz archives: members at once or in pieces.

np.load would unpickle objects and inflate members of any size, so that this module reads members
itself.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from wordgeom.core.errors import FormatError, InputError, WordgeomError
from wordgeom.core.formatting import exceeding
from wordgeom.core.types import Array
from wordgeom.formats.npy import NUMBERS, Header, check_kind, read_body, read_header, read_items
from wordgeom.storage.opening import opened

_MESSAGE_LENGTH = 80  # characters of another library's message
_SUFFIX = ".npy"
_MAX_DEFLATE_RATIO = 1032
_ENCRYPTED = 1  # flag bit of a member


class Archive:
    """An open .npz file; max_bytes: memory limit of a member."""

    def __init__(self, packed: zipfile.ZipFile, path: Path, max_bytes: int) -> None:
        self._packed, self._path, self._max_bytes = packed, path, max_bytes
        self.members = [
            name.removesuffix(_SUFFIX) for name in packed.namelist() if name.endswith(_SUFFIX)
        ]

    def where(self, member: str) -> str:
        """Return the name of a member in messages."""
        return f"{self._path} [{member}]"

    def header(self, member: str) -> Header:
        """Return the header of a member. Raises FormatError; InputError for an array of objects."""
        info = self._entry(member)
        with self._packed.open(info) as source:
            return read_header(source, info.file_size, self.where(member))

    def array(self, member: str, kinds: str = NUMBERS) -> Array:
        """Return a member's array of one of the dtype `kinds`. Raises what `read_body` raises."""
        info, where = self._entry(member), self.where(member)
        with self._packed.open(info) as source:
            header = read_header(source, info.file_size, where)
            if header.nbytes > self._max_bytes:
                need, limit = exceeding(header.nbytes, self._max_bytes)
                what = f"needs {need}, more than the memory limit of {limit}"
                raise InputError(what, where=where, do="raise --memory")
            return read_body(source, header, where, kinds)

    @contextmanager
    def items(self, member: str, kinds: str = NUMBERS) -> Iterator[ItemReader]:
        """Open a one-dimensional member to read it in pieces, from start to end."""
        info, where = self._entry(member), self.where(member)
        with self._packed.open(info) as source:
            header = read_header(source, info.file_size, where)
            check_kind(header, where, kinds)
            yield ItemReader(source, header, where)

    def _entry(self, member: str) -> zipfile.ZipInfo:
        """Return a member's directory entry. Raises FormatError if NumPy cannot have written it."""
        if member not in self.members:
            what = f"no member {member}"
            raise FormatError(what, where=self._path, found=", ".join(self.members)[:80])
        info = self._packed.getinfo(member + _SUFFIX)
        known = info.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if not known or info.flag_bits & _ENCRYPTED:
            do = "write it with np.savez or scipy.sparse.save_npz"
            what = "unsupported compression or encryption"
            raise FormatError(what, where=self.where(member), do=do)
        stored = min(info.compress_size, self._path.stat().st_size)
        if info.file_size > stored * _MAX_DEFLATE_RATIO:
            raise FormatError(
                f"the directory declares {info.file_size:,} bytes",
                where=self.where(member),
                found=f"only {stored:,} compressed bytes",
                do="the file is broken; write it again",
            )
        return info


class ItemReader:
    """A sequential reader of a member's numbers."""

    def __init__(self, source: IO[bytes], header: Header, where: str) -> None:
        self._source, self.header, self._where = source, header, where

    def take(self, count: int) -> Array:
        """Return the next `count` numbers. Raises FormatError for truncated data."""
        return read_items(self._source, self.header, count, self._where)


@contextmanager
def opened_archive(path: Path, max_bytes: int) -> Iterator[Archive]:
    """Open an archive; max_bytes: memory limit of a member.

    Raises MissingInputError, FormatError.
    """
    with opened(path, "an .npz file") as source:
        try:
            with zipfile.ZipFile(source) as packed:
                yield Archive(packed, path, max_bytes)
        except WordgeomError:
            raise
        # Everything that zipfile raises for a broken or unsupported archive.
        except (
            zipfile.BadZipFile, zlib.error, EOFError, LookupError, NotImplementedError, OSError,
            RuntimeError, ValueError,
        ) as error:  # fmt: skip
            what = "broken archive: " + " ".join(str(error).split())[:_MESSAGE_LENGTH]
            raise FormatError(what, where=path, do="download or write it again") from None
