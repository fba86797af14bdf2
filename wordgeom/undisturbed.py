"""A block that Ctrl-C and other signals to stop do not break in two."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


@contextlib.contextmanager
def undisturbed() -> Iterator[None]:
    """Put signals to stop off to the end of the block; it must be short."""
    if threading.current_thread() is not threading.main_thread():
        yield  # where Python raises nothing
        return
    waiting: list[tuple[int, FrameType | None]] = []

    def later(number: int, frame: FrameType | None) -> None:
        waiting.append((number, frame))

    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    found: dict[int, Any] = {number: signal.getsignal(number) for number in numbers}
    before = {number: handler for number, handler in found.items() if callable(handler)}
    for number in before:
        signal.signal(number, later)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if waiting:
            number, frame = waiting[0]
            before[number](number, frame)
