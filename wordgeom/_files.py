"""Files that appear whole or not at all, and the lock that keeps a second writer out."""

from __future__ import annotations

import contextlib
import json
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

from wordgeom.errors import LockedError, MissingInputError, WordgeomError, WriteError


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` durable."""
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


@contextlib.contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file that takes the name `path` when the block ends well, else is removed.

    Raises WriteError when the disk refuses, MissingInputError when the folder is not there.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.replace(part, path)
        sync_folder(path.parent)
    except WordgeomError:
        raise
    except FileNotFoundError as error:
        do = "make it, or name another"
        raise MissingInputError("no such folder", where=path.parent, do=do) from error
    except OSError as error:
        raise write_error(path, error) from error
    finally:
        with contextlib.suppress(OSError):
            part.unlink()


def write_error(path: Path, error: OSError) -> Exception:
    """Return the one-line form of a failed write to `path`."""
    if isinstance(error, WriteError) or error.errno is None:
        return error
    reason = os.strerror(error.errno).lower()
    return WriteError(f"cannot be written: {reason}", where=path, do="nothing was kept")


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
                with open(self._path, "x", encoding="utf-8") as out:
                    json.dump(_identity(os.getpid()), out)
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
        self._path.unlink(missing_ok=True)

    def _remove_if_dead(self) -> None:
        try:
            owner = json.loads(self._path.read_text(encoding="utf-8"))
            host, pid = str(owner["host"]), int(owner["pid"])
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError):
            self._refuse("an unreadable lock", f"remove {self._path} if no writer runs")
        if host != socket.gethostname():
            self._refuse(f"process {pid} on {host}", f"wait, or remove {self._path} if it is gone")
        if _identity(pid) == owner:
            self._refuse(f"process {pid}", "wait for it to end, or write elsewhere with -o")
        self._path.unlink(missing_ok=True)

    def _refuse(self, found: str, do: str) -> None:
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
