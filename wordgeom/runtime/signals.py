"""Signals to stop, such as Ctrl-C, put off: to the end of a block, or to where a loop looks."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
_Handler = Callable[[int, FrameType | None], Any]


@contextlib.contextmanager
def deferred_signals() -> Iterator[None]:
    """Put signals to stop off to the end of the block; it must be short."""
    before = _handlers()
    waiting: list[tuple[int, FrameType | None]] = []

    def later(number: int, frame: FrameType | None) -> None:
        waiting.append((number, frame))

    try:
        with _answered_by(later, before):
            yield
    finally:
        if waiting:
            number, frame = waiting[0]
            before[number](number, frame)


class StopRequest:
    """Whether somebody asked to stop; a second time nothing is put off any more."""

    def __init__(self, before: dict[int, _Handler]) -> None:
        self._before, self._immediate = before, False
        self.requested = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Answer a signal: note it, or raise what it raises."""
        try:
            self._before[number](number, frame)
        except KeyboardInterrupt:
            if self._immediate or self.requested:
                self.requested = True
                raise
            self.requested = True

    @contextlib.contextmanager
    def immediate(self) -> Iterator[None]:
        """Let signals through while the block runs, which may wait for long."""
        self._immediate = True
        try:
            yield
        finally:
            self._immediate = False


@contextlib.contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Lend what tells whether to stop, to a block that looks often and then ends by itself.

    Raises KeyboardInterrupt at its end where it was asked to stop.
    """
    before = _handlers()
    asked = StopRequest(before)
    with _answered_by(asked, before):
        yield asked
    if asked.requested:
        raise KeyboardInterrupt


def _handlers() -> dict[int, _Handler]:
    """Return what answers to signals to stop; nothing in a thread where Python raises nothing."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    found: dict[int, Any] = {number: signal.getsignal(number) for number in numbers}
    return {number: handler for number, handler in found.items() if callable(handler)}


@contextlib.contextmanager
def _answered_by(handler: _Handler, before: dict[int, _Handler]) -> Iterator[None]:
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)
