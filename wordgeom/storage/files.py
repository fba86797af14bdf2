"""Files that appear whole or not at all, and the lock that keeps a second writer out.

Whatever changes the disk for good passes through here, so that the tests of faults can stop the
program before any of it: `boundary`.
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
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, NoReturn, Self, cast

from wordgeom.core.errors import LockedError, MissingInputError, WordgeomError, WriteError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_WAIT = "wait for it to end, or name another output"

# Called as boundary("write", path) before each step that changes the disk.
boundary: Callable[[str, Path], None] | None = None


def reached(step: str, path: str | os.PathLike[str]) -> None:
    """Tell whoever watches that `step` is about to be done to `path`."""
    if boundary is not None:
        boundary(step, Path(path))


def _made(path: str, flags: int) -> int:
    """Open a file that need not be there; a link that lies in its place would lead elsewhere."""
    return os.open(path, flags | os.O_CREAT | os.O_NOFOLLOW, 0o666)


class WatchedFile(io.FileIO):
    """An unbuffered file to write to, whose steps are watched."""

    def __init__(self, path: Path, mode: str, *, make: bool = False) -> None:
        reached("open", path)
        self._path = path
        super().__init__(path, mode, opener=_made if make else None)

    def write(self, raw: ReadableBuffer, /) -> int:
        """Write some of the bytes; returns how many."""
        reached("write", self._path)
        return super().write(raw)

    def truncate(self, size: int | None = None, /) -> int:
        """Cut the file."""
        reached("truncate", self._path)
        return super().truncate(size)

    def sync(self) -> None:
        """Make what was written durable."""
        reached("fsync", self._path)
        os.fsync(self.fileno())


def make_folder(path: Path) -> None:
    """Make a folder, as Path.mkdir does."""
    reached("mkdir", path)
    path.mkdir()


def replace(source: Path, target: Path) -> None:
    """Give a file another's name in one step."""
    reached("replace", target)
    os.replace(source, target)


def remove(path: Path) -> None:
    """Remove a file if it is there."""
    reached("unlink", path)
    path.unlink(missing_ok=True)


def remove_folder(path: Path) -> None:
    """Remove a folder and what is in it."""
    reached("rmtree", path)
    shutil.rmtree(path)


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable."""
    reached("fsync", folder)
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


class Closing:
    """Base of what has close(): a with statement calls it at its end."""

    def close(self) -> None:
        """Let go of what is held."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def same_file(one: Path, other: Path) -> bool:
    """Tell whether two paths name one file, which need not be there."""
    try:
        return one.samefile(other)
    except OSError:  # one is not there yet
        return os.path.realpath(one) == os.path.realpath(other)


def part_path(path: Path) -> Path:
    """Return where a file lies until it is whole: `.vectors.bin.part`."""
    return path.with_name(f".{path.name}.part")


@contextlib.contextmanager
def atomic_file(path: Path, *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a new file that takes the name `path` when the block ends well, else is removed.

    durable: it outlives a power cut too. Raises WriteError when the disk refuses,
    MissingInputError when the folder is not there, LockedError when another process writes it.
    """
    with _explained(path), _part(path, durable=durable, take=True) as out:
        yield out


@contextlib.contextmanager
def staged_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that then waits, whole and durable, at `part_path(path)` for `publish`.

    It is removed where the block does not end well. Raises what `atomic_file` raises.
    """
    with _explained(path), _part(path, durable=True, take=False) as out:
        yield out


def publish(path: Path, *, durable: bool = True) -> None:
    """Give a whole part its name, in one step."""
    replace(part_path(path), path)
    if durable:
        sync_folder(path.parent)


@contextlib.contextmanager
def _part(path: Path, *, durable: bool, take: bool) -> Iterator[BinaryIO]:
    """Open the part of `path` for one writer alone; then it is made durable and takes its name."""
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
                part.unlink()  # while it is locked: nobody else's
            raise


def _open_alone(part: Path, path: Path) -> WatchedFile:
    """Open a part, empty, that no other process has open here. Raises LockedError."""
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
    """Lock a part; tell whether it still is one, and has not become another process's output."""
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
    """Turn the system's errors in writing `path` into those of one line."""
    try:
        yield
    except WordgeomError:
        raise
    except FileNotFoundError as error:
        do = "make it, or name another"
        raise MissingInputError("no such folder", where=path.parent, do=do) from error
    except OSError as error:
        raise write_error(path, error) from error


def write_error(path: Path, error: OSError) -> Exception:
    """Return the one-line form of a failed write to `path`."""
    if isinstance(error, WriteError) or error.errno is None:
        return error
    reason = os.strerror(error.errno).lower()
    do = "free room or write elsewhere"
    if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
        do = "write elsewhere"
    what = f"cannot be written: {reason}"
    return WriteError(what, where=path, do=f"{do}; nothing half-written stays")


_BEFORE_NAME = 0.5  # seconds that a writer has to write its name into its lock
_NOBODY = {"host": "", "pid": 0, "start": ""}
_ENDED = ("Z", "X")  # a process that has ended and waits for its parent to notice


class Lock:
    """Refuses a second writer of `target` while the block runs.

    The lock file names host, process and its start, so that the lock of a process that died is
    taken over. Raises LockedError.
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

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        remove(self._path)

    def abandon(self) -> None:
        """Leave the lock as that of a writer that is gone: its parts are to be gone on with."""
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
            # Two that find the same dead lock must not remove each other's new one.
            with contextlib.suppress(OSError):
                fcntl.flock(held, fcntl.LOCK_EX)
            if os.path.samestat(os.fstat(held.fileno()), os.stat(self._path)):
                self._refuse_living(held)
                remove(self._path)

    def _refuse_living(self, held: BinaryIO) -> None:
        raw = held.read()
        if not raw:  # its writer is about to write its name, or died before it did
            time.sleep(_BEFORE_NAME)
            raw = held.read()
        if not raw:
            return
        try:
            owner = json.loads(raw)
            host, pid = str(owner["host"]), int(owner["pid"])
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
            self._refuse("an unreadable lock", f"remove {self._path} if no writer runs")
        if owner == _NOBODY:
            return
        if host != socket.gethostname():
            self._refuse(f"process {pid} on {host}", f"wait, or remove {self._path} if it is gone")
        if _identity(pid) == owner:
            self._refuse(f"process {pid}", _WAIT)

    def _refuse(self, found: str, do: str) -> NoReturn:
        raise LockedError("is being written", where=self._target, found=found, do=do)


def _identity(pid: int) -> dict[str, object]:
    return {"host": socket.gethostname(), "pid": pid, "start": _start(pid)}


def _start(pid: int) -> str:
    """Return when process `pid` started, as the kernel tells it, or "" for one that is gone."""
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
