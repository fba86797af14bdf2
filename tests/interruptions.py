"""Interrupt or kill runs at a checkpoint, and damage what they leave."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from wordgeom.checkpoint.method_state import MethodState
from wordgeom.core.types import Array

HARMS = ("flip", "cut", "gone")
_KILLED = """
import os, signal
from wordgeom.checkpoint.method_state import MethodState
write, written = MethodState._write, []
def killed(self, *state):
    write(self, *state)
    written.append(1)
    if len(written) == {number}:
        os.kill(os.getpid(), signal.SIGKILL)
MethodState._write = killed
from wordgeom.cli import main
main({args!r})
"""


@contextmanager
def interrupted_after(number: int) -> Iterator[None]:
    """Interrupt the run in the block after its state was saved for the n-th time."""
    save, saves = MethodState.save, []

    def stopped(self: MethodState, state: Callable[[], Mapping[str, Array]]) -> None:
        save(self, state)
        saves.append(self)
        if len(saves) == number:
            raise KeyboardInterrupt

    with patch.object(MethodState, "save", stopped):
        yield


def kill_after(number: int, args: Sequence[str]) -> None:
    """Run a command in a process that is killed (-9) when its state was written n times."""
    code = _KILLED.format(number=number, args=list(args))
    done = subprocess.run([sys.executable, "-c", code], env=os.environ.copy(), check=False)
    assert done.returncode == -signal.SIGKILL


def damage(path: Path, harm: str, place: int) -> None:
    """Flip a bit of a file, cut the file off there, or remove it."""
    raw = bytearray(path.read_bytes())
    raw[place] ^= 1
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(raw if harm == "flip" else raw[: place + 1])
