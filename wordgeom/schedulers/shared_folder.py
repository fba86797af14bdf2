"""The folder through which a run and its workers exchange arrays."""

from __future__ import annotations

import contextlib
import secrets
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from wordgeom.core.types import Array
from wordgeom.schedulers.shared_array import SharedArray, array_digest
from wordgeom.storage.files import (
    Lock,
    atomic_file,
    make_folder,
    remove,
    remove_folder,
    write_errors,
)
from wordgeom.storage.scratch import raw_bytes

_TOKEN = "token"
_ATTEMPTS = 5


class SharedFolder:
    """A folder of .npy files, which exists during a run."""

    def __init__(self, path: Path, token: str) -> None:
        self.path, self.token = path, token
        self._uses: Counter[SharedArray] = Counter()
        self._counting = threading.Lock()

    def share(self, array: Array) -> SharedArray:
        """Write an array to a file named by its digest, unless another call does.

        Calls may overlap; the file is complete when all have returned. Raises WriteError.
        """
        array = np.asarray(array, order="C")
        digest = array_digest(array)
        path = self.path / f"{digest}.npy"
        shared = SharedArray(str(path), digest)
        with self._counting:
            self._uses[shared] += 1
            missing = self._uses[shared] == 1
        if missing:
            with atomic_file(path, durable=False) as out:
                # write_array does not say why the disk refuses its bytes.
                header = np.lib.format.header_data_from_array_1_0(array)
                np.lib.format.write_array_header_1_0(out, header)
                out.write(raw_bytes(array))
        return shared

    def release(self, shared: SharedArray) -> None:
        """Remove the file of an array once each `share` of it was released."""
        with self._counting:
            self._uses[shared] -= 1
            unused = not self._uses[shared]
        if unused:
            remove(Path(shared.path))


@contextmanager
def shared_folder(path: Path) -> Iterator[SharedFolder]:
    """Create the folder of a run, and remove it at the end; raises LockedError, WriteError."""
    with _lock(path):
        _remove(path)
        token = secrets.token_hex(16)
        with write_errors(path):
            make_folder(path)
        try:
            with atomic_file(path / _TOKEN, durable=False) as out:
                out.write(token.encode())
            yield SharedFolder(path.absolute(), token)
        finally:
            _remove(path)


def remove_left_folder(path: Path) -> None:
    """Remove the folder that a killed run left, or its lock, unless another process uses it."""
    if path.exists() or _lock_path(path).exists():
        # LockedError, or an error where the directory is another user's, whose model `drift` reads.
        with contextlib.suppress(OSError), _lock(path):
            _remove(path)


def folder_beside(state: Path) -> Path:
    """Return the shared folder of the run with this checkpoint: `.cooc.shared`, `.cooc.state`."""
    return state.with_suffix(".shared")


def sees_token(path: str, token: str) -> bool:
    """Return whether this process finds the token of a run in its shared folder."""
    try:
        return (Path(path) / _TOKEN).read_text(encoding="ascii") == token
    except (OSError, ValueError):
        return False


def _lock(path: Path) -> Lock:
    return Lock(_lock_path(path), path)


def _lock_path(path: Path) -> Path:
    return path.with_name(f"{path.name}.lock")


def _remove(path: Path) -> None:
    """Remove a folder; what a worker's last block adds meanwhile is left to the next run."""
    for _ in range(_ATTEMPTS):
        if path.exists():
            with contextlib.suppress(OSError):
                remove_folder(path)
