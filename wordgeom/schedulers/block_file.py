"""The result of a block: a file of arrays, one after the other, and its receipt."""

from __future__ import annotations

import contextlib
import hashlib
import io
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import SchedulerError
from wordgeom.core.types import Array
from wordgeom.storage.files import WatchedFile, remove, write_errors


@dataclass(frozen=True)
class Receipt:
    """What a worker returns for a block: name and SHA-256 of its file, and the arrays' names.

    warning: how the worker differs from the client.
    """

    name: str
    digest: str
    arrays: tuple[str, ...]
    warning: str = ""


def write_block(folder: Path, result: Mapping[str, Array]) -> Receipt:
    """Write a result to a new file, which counts once its receipt arrives; raises WriteError."""
    raw = io.BytesIO()
    for array in result.values():
        np.lib.format.write_array(raw, np.asarray(array, order="C"), allow_pickle=False)
    content = raw.getbuffer()
    # A block that is computed twice, because its worker seemed lost, has two files.
    path = folder / f"block-{uuid.uuid4().hex}.npy"
    with write_errors(path):
        try:
            with WatchedFile(path, "x") as out:
                rest = content
                while rest:
                    rest = rest[out.write(rest) :]
        except OSError:
            with contextlib.suppress(OSError):
                path.unlink()
            raise
    return Receipt(path.name, hashlib.sha256(content).hexdigest(), tuple(result))


def take_block(folder: Path, receipt: Receipt) -> dict[str, Array]:
    """Read a result and remove its file; raises SchedulerError for other bytes."""
    path = folder / receipt.name
    try:
        content = path.read_bytes()
    except OSError as error:
        found = (error.strerror or str(error)).lower()
        raise _unread(path, f"a block cannot be read: {found}") from None
    if hashlib.sha256(content).hexdigest() != receipt.digest:
        raise _unread(path, "a block has other bytes than its worker wrote")
    raw = io.BytesIO(content)
    result = {name: np.lib.format.read_array(raw, allow_pickle=False) for name in receipt.arrays}
    remove(path)
    return result


def _unread(path: Path, what: str) -> SchedulerError:
    return SchedulerError(what, where=path, do="check the shared folder")
