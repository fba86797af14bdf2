"""Opening input files, with gzip files decompressed."""

from __future__ import annotations

import gzip
import os
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from wordgeom.core.errors import FormatError, MissingInputError

_GZIP_MAGIC = b"\x1f\x8b"


@contextmanager
def opened(path: Path, wanted: str) -> Iterator[BinaryIO]:
    """Open a regular file for reading; wanted: its kind, for messages. Raises MissingInputError."""
    with reading(path, wanted):
        # Check first: opening a pipe would wait for a writer.
        if not stat.S_ISREG(path.stat().st_mode):
            found, do = "a directory" if path.is_dir() else "a device or pipe", f"pass {wanted}"
            raise MissingInputError(f"not a file but {found}", where=path, do=do)
        with open(path, "rb") as source:
            yield source


def not_there(path: str | os.PathLike[str], do: str) -> MissingInputError:
    """Return the error for a file that does not exist, or a symbolic link to none."""
    if os.path.islink(path):
        what = f"is a symbolic link to {os.readlink(path)}, which does not exist"
        return MissingInputError(what, where=path, do="correct or remove the link")
    return MissingInputError("no such file", where=path, do=do)


@contextmanager
def reading(
    path: str | os.PathLike[str], wanted: str, missing: str = "check the path"
) -> Iterator[None]:
    """Turn what the system raises in the block, which reads a file, into MissingInputError.

    wanted: the kind of file; missing: advice where there is none.
    """
    try:
        yield
    except MissingInputError:
        raise
    except FileNotFoundError:
        raise not_there(path, missing) from None
    except IsADirectoryError:
        raise MissingInputError("is a directory", where=path, do=f"pass {wanted}") from None
    except OSError as error:
        if error.errno is None:
            raise
        reason = os.strerror(error.errno).lower()
        do = "check its permissions" if isinstance(error, PermissionError) else ""
        raise MissingInputError(f"cannot be read: {reason}", where=path, do=do) from error


def check_listed(path: Path, wanted: str) -> None:
    """Raise MissingInputError for a directory that cannot be read; wanted: its kind."""
    with reading(path, wanted):
        os.listdir(path)


@contextmanager
def unpacked(path: Path, wanted: str) -> Iterator[BinaryIO]:
    """Open a file as `opened` does, a gzip file decompressed. Raises FormatError as well."""
    with opened(path, wanted) as raw:
        packed = raw.read(2) == _GZIP_MAGIC
        raw.seek(0)
        if not packed:
            yield raw
            return
        try:
            yield cast(BinaryIO, gzip.GzipFile(fileobj=raw))
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            what = "broken gzip file: " + str(error).split(":")[0].lower().rstrip(".")
            do = "check it with gzip -t, and download it again"
            raise FormatError(what, where=path, do=do) from None
