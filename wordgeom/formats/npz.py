"""NumPy's .npz archives: members are read whole, or piece by piece.

Members are read here and not by np.load, so that nothing is unpickled or inflated on a promise.
"""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from wordgeom.core.errors import FormatError, InputError, WordgeomError
from wordgeom.core.types import Array
from wordgeom.formats.npy import NUMBERS, Header, check_kind, read_body, read_header, read_items
from wordgeom.storage.opening import opened

_MESSAGE_LENGTH = 80  # characters of another library's message
_SUFFIX = ".npy"
_MAX_DEFLATE_RATIO = 1032  # bytes that a byte of deflate can stand for, at most
_ENCRYPTED = 1  # a member's flag


class Archive:
    """An open .npz file; most: bytes that a member may take in memory."""

    def __init__(self, packed: zipfile.ZipFile, path: Path, max_bytes: int) -> None:
        self._packed, self._path, self._max_bytes = packed, path, max_bytes
        self.members = [
            name.removesuffix(_SUFFIX) for name in packed.namelist() if name.endswith(_SUFFIX)
        ]

    def where(self, member: str) -> str:
        """Return what a message calls a member."""
        return f"{self._path} [{member}]"

    def header(self, member: str) -> Header:
        """Return the header of a member. Raises FormatError; InputError for objects."""
        info = self._entry(member)
        with self._packed.open(info) as source:
            return read_header(source, info.file_size, self.where(member))

    def array(self, member: str, kinds: str = NUMBERS) -> Array:
        """Return a member's array, whose type must be of the `kinds`. Raises as `read_body`."""
        info, where = self._entry(member), self.where(member)
        with self._packed.open(info) as source:
            header = read_header(source, info.file_size, where)
            if header.nbytes > self._max_bytes:
                found, do = f"{header.nbytes:,} bytes", "raise --memory"
                raise InputError("is too large for --memory", where=where, found=found, do=do)
            return read_body(source, header, where, kinds)

    @contextmanager
    def items(self, member: str, kinds: str = NUMBERS) -> Iterator[ItemReader]:
        """Open a member of one dimension to be read from its beginning to its end."""
        info, where = self._entry(member), self.where(member)
        with self._packed.open(info) as source:
            header = read_header(source, info.file_size, where)
            check_kind(header, where, kinds)
            yield ItemReader(source, header, where)

    def _entry(self, member: str) -> zipfile.ZipInfo:
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
        if info.file_size > stored * _MAX_DEFLATE_RATIO:
            raise FormatError(
                f"promises {info.file_size:,} bytes",
                where=self.where(member),
                found=f"{stored:,} packed, which cannot hold them",
                do="the file is broken; write it again",
            )
        return info


class ItemReader:
    """A member's numbers, handed out in their order."""

    def __init__(self, source: IO[bytes], header: Header, where: str) -> None:
        self._source, self.header, self._where = source, header, where

    def take(self, count: int) -> Array:
        """Return the next `count` numbers; raises FormatError where there are fewer."""
        return read_items(self._source, self.header, count, self._where)


@contextmanager
def opened_archive(path: Path, max_bytes: int) -> Iterator[Archive]:
    """Open an archive; most: bytes of a member in memory. Raises MissingInputError, FormatError."""
    with opened(path, "an .npz file") as source:
        try:
            with zipfile.ZipFile(source) as packed:
                yield Archive(packed, path, max_bytes)
        except WordgeomError:
            raise
        # All that zipfile raises of a broken or strange archive.
        except (
            zipfile.BadZipFile, zlib.error, EOFError, LookupError, NotImplementedError, OSError,
            RuntimeError, ValueError,
        ) as error:  # fmt: skip
            do, found = "fetch or write it again", " ".join(str(error).split())[:_MESSAGE_LENGTH]
            raise FormatError("broken archive", where=path, found=found, do=do) from None
