"""Interrupt runs at a checkpoint, and damage what they leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

from wordgeom.checkpoint.method_state import MethodState
from wordgeom.core.types import Array

HARMS = ("flip", "cut", "gone")


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


def damage(path: Path, harm: str, place: int) -> None:
    """Flip a bit of a file, cut the file off there, or remove it."""
    raw = bytearray(path.read_bytes())
    raw[place] ^= 1
    if harm == "gone":
        path.unlink()
    else:
        path.write_bytes(raw if harm == "flip" else raw[: place + 1])
