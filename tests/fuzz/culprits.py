"""Readers that do what no reader may, so that the fuzzing itself is seen to notice it."""

from __future__ import annotations

import pickle
import time
import warnings
from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError

_HOGS: list[object] = []


def raises(path: Path) -> None:
    """Let an error of Python's out."""
    raise KeyError(path.read_bytes())


def warns(path: Path) -> None:
    """Warn."""
    warnings.warn(str(path), stacklevel=1)


def rambles(path: Path) -> None:
    """Fail in more than a line's length."""
    raise FormatError("x" * 1000, where=path)


def unpickles(path: Path) -> None:
    """Take a file for a pickle."""
    path.write_bytes(pickle.dumps([1]))
    pickle.loads(path.read_bytes())


def strays(_: Path) -> None:
    """Look at another file."""
    Path("/etc/hostname").read_bytes()


def hangs(_: Path) -> None:
    """Come to no end."""
    time.sleep(60)


def hogs(_: Path) -> None:
    """Take memory that a header could have asked for."""
    _HOGS.append(np.ones(1 << 30))


CULPRITS = {
    "raises": (raises, "KeyError"),
    "warns": (warns, "UserWarning"),
    "rambles": (rambles, "a message of"),
    "unpickles": (unpickles, "unpickled"),
    "strays": (strays, "opened /etc/hostname"),
    "hangs": (hangs, "took too long"),
    "hogs": (hogs, "MemoryError"),
}
