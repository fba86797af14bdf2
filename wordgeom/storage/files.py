"""Files that are written atomically, and the lock against a second writer.

Every lasting change of the disk passes through this module, so that fault tests can stop the
program before each of them: `boundary`.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import json
import os
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NoReturn, Self, cast

from wordgeom.core.errors import LockedError, MissingInputError, WordgeomError, WriteError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_WAIT = "wait for it to finish, or choose another output"

# A test hook, called as boundary("write", path) before each change of the disk.
boundary: Callable[[str, Path], None] | None = None


def reached(step: str, path: str | os.PathLike[str]) -> None:
    """Call the test hook before `step` is done to `path`."""
    if boundary is not None:
        boundary(step, Path(path))


def _create(path: str, flags: int) -> int:
    """Open a file, created if missing; a symbolic link in its place is an error."""
    return os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, 0o666)


class WatchedFile(io.FileIO):
    """An unbuffered file for writing that calls the test hook."""

    def __init__(self, path: Path, mode: str, *, make: bool = False) -> None:
        reached("open", path)
        self._path = path
        super().__init__(path, mode, opener=_create if make else None)

    def write(self, raw: ReadableBuffer, /) -> int:
        """Write some of the bytes and return their number."""
        reached("write", self._path)
        return super().write(raw)

    def truncate(self, size: int | None = None, /) -> int:
        """Truncate the file."""
        reached("truncate", self._path)
        return super().truncate(size)

    def sync(self) -> None:
        """Make the written bytes durable."""
        reached("fsync", self._path)
        os.fsync(self.fileno())


def make_folder(path: Path) -> None:
    """Create a directory, as Path.mkdir does."""
    reached("mkdir", path)
    path.mkdir()


def replace(source: Path, target: Path) -> None:
    """Rename a file over another, atomically."""
    reached("replace", target)
    os.replace(source, target)


def remove(path: Path) -> None:
    """Remove a file if it exists."""
    reached("unlink", path)
    path.unlink(missing_ok=True)


def remove_folder(path: Path) -> None:
    """Remove a directory and its contents."""
    reached("rmtree", path)
    shutil.rmtree(path)


def folder_bytes(folder: Path) -> int:
    """Return the size of the files in a directory, 0 where there is none."""
    total = 0
    for path in folder.rglob("*"):
        with contextlib.suppress(OSError):  # removed meanwhile
            total += path.stat().st_size if path.is_file() else 0
    return total


def sync_folder(folder: Path) -> None:
    """Make the entries of a directory durable."""
    reached("fsync", folder)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Closing:
    """Base of classes with close(), which a with statement calls at its end."""

    def close(self) -> None:
        """Release resources."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def same_file(one: Path, other: Path) -> bool:
    """Return whether two paths name one file, which need not exist."""
    try:
        return one.samefile(other)
    except OSError:  # one does not exist
        return os.path.realpath(one) == os.path.realpath(other)


def part_path(path: Path) -> Path:
    """Return the temporary name of an incomplete file: `.vectors.bin.part`."""
    return path.with_name(f".{path.name}.part")


@contextlib.contextmanager
def atomic_file(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a new file that is renamed to `path` when the block succeeds, and removed otherwise.

    durable: fsync it, to survive a power failure. Raises WriteError, MissingInputError where the
    directory does not exist, LockedError where another process is writing the file.
    """
    with _explained(path), _part(path, durable=durable, take=True) as out:
        yield out


@contextlib.contextmanager
def staged_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that stays, complete and durable, at `part_path(path)` until `publish`.

    It is removed when the block fails. Raises what `atomic_file` raises.
    """
    with _explained(path), _part(path, durable=True, take=False) as out:
        yield out


def publish(path: Path, *, durable: bool = True) -> None:
    """Rename a staged file to its final name, atomically."""
    replace(part_path(path), path)
    if durable:
        sync_folder(path.parent)


@contextlib.contextmanager
def _part(path: Path, *, durable: bool, take: bool) -> Iterator[BinaryIO]:
    """Open the part file of `path` for one writer; take: rename it to `path` at the end."""
    part = part_path(path)
    with _open_alone(part, path) as raw, io.BufferedWriter(raw) as out:
        try:
            yield cast(BinaryIO, out)
            out.flush()
            if durable:
                raw.sync()
            if take:
                publish(path, durable=durable)
        except BaseException:
            with contextlib.suppress(OSError):
                part.unlink()  # still locked, and so still ours
            raise


def _open_alone(part: Path, path: Path) -> WatchedFile:
    """Open an empty part file that no other process has open; raises LockedError."""
    while True:
        raw = WatchedFile(part, "r+", make=True)
        try:
            if _is_ours(raw, part, path):
                raw.truncate(0)
                return raw
        except BaseException:
            raw.close()
            raise
        raw.close()


def _is_ours(raw: WatchedFile, part: Path, path: Path) -> bool:
    """Lock a part file; return whether it is still there, not renamed by another process."""
    try:
        fcntl.flock(raw, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        what = "is being written by another process"
        raise LockedError(what, where=path, do=_WAIT) from None
    except OSError:  # a file system without locks
        pass
    try:
        return os.path.samestat(os.fstat(raw.fileno()), os.stat(part))
    except FileNotFoundError:
        return False


@contextlib.contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn an OSError in writing `path` into an error of one line."""
    try:
        yield
    except WordgeomError:
        raise
    except FileNotFoundError as error:
        do = "create it, or choose another output"
        raise MissingInputError("no such directory", where=path.parent, do=do) from error
    except OSError as error:
        raise write_error(path, error) from error


@contextlib.contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """Turn an OSError of the block into the WriteError of a failed write to `path`."""
    try:
        yield
    except OSError as error:
        raise write_error(path, error) from error


def write_error(path: Path, error: OSError) -> Exception:
    """Return the one-line form of a failed write to `path`."""
    if isinstance(error, WriteError) or error.errno is None:
        return error
    reason = os.strerror(error.errno).lower()
    do = "choose another output"
    if error.errno in _FULL:
        do = f"free disk space or {do}"
    what = f"cannot be written: {reason}"
    return WriteError(what, where=path, do=f"{do}; no partial output is left")


_GRACE = 0.5  # seconds for a writer to write its identity into its lock
_NOBODY = {"host": "", "pid": 0, "start": ""}
_ENDED = ("Z", "X")  # states of a process that has ended but was not reaped


class Lock:
    """Excludes a second writer of `target` while the block runs; raises LockedError.

    The lock file names the host, the process and its start time, so that the lock of a process that
    died is taken over.
    """

    def __init__(self, path: Path, target: Path) -> None:
        self._path, self._target = path, target

    def __enter__(self) -> Self:
        for _ in range(2):
            try:
                self._take()
                return self
            except FileExistsError:
                self._remove_if_dead()
            except OSError as error:
                raise write_error(self._target, error) from error
        raise LockedError("another writer took the lock", where=self._target, do="try again")

    def __exit__(self, *_: object) -> None:
        remove(self._path)

    def abandon(self) -> None:
        """Leave the lock as that of a dead writer, whose parts the next writer resumes."""
        with atomic_file(self._path) as out:
            out.write(json.dumps(_NOBODY).encode())

    def _take(self) -> None:
        with WatchedFile(self._path, "x") as out:
            try:
                out.write(json.dumps(_identity(os.getpid())).encode())
            except BaseException:
                self._path.unlink()
                raise

    def _remove_if_dead(self) -> None:
        with contextlib.suppress(FileNotFoundError), open(self._path, "rb") as held:
            # Two processes that find one dead lock must not remove each other's new one.
            with contextlib.suppress(OSError):
                fcntl.flock(held, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(held.fileno()), os.stat(self._path)):
                self._check_dead(held)
                remove(self._path)

    def _check_dead(self, held: BinaryIO) -> None:
        raw = held.read()
        if not raw:  # its writer is about to write its identity, or died before
            time.sleep(_GRACE)
            raw = held.read()
        if not raw:
            return
        try:
            owner = json.loads(raw)
            host, pid = str(owner["host"]), int(owner["pid"])
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            self._fail("has an unreadable lock", f"remove {self._path} if no process is writing")
        if owner == _NOBODY:
            return
        if host != socket.gethostname():
            self._fail(
                f"is being written by process {pid} on {host}",
                f"wait, or remove {self._path} if that process has ended",
            )
        if _identity(pid) == owner:
            self._fail(f"is being written by process {pid}", _WAIT)

    def _fail(self, how: str, do: str) -> NoReturn:
        raise LockedError(how, where=self._target, do=do)


def _identity(pid: int) -> dict[str, object]:
    return {"host": socket.gethostname(), "pid": pid, "start": _start(pid)}


def _start(pid: int) -> str:
    """Return the start time of a process as the kernel reports it, "" for one that has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()
        return "" if fields[0] in _ENDED else fields[19]
    except (OSError, IndexError):
        return "" if not _alive(pid) else "?"


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
