"""Deferred handling of Ctrl-C, SIGTERM and SIGHUP, to the end of a block or of a loop's step."""

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
    """Defer signals to the end of the block, which must be short."""
    before = _handlers()
    waiting: list[tuple[int, FrameType | None]] = []

    def later(number: int, frame: FrameType | None) -> None:
        waiting.append((number, frame))

    try:
        with handled_by(later, before):
            yield
    finally:
        if waiting:
            number, frame = waiting[0]
            before[number](number, frame)


class StopRequest:
    """Whether a stop was requested; a second request raises at once."""

    def __init__(self, before: dict[int, _Handler]) -> None:
        self._before, self._immediate = before, False
        self.requested = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal: record it, or raise KeyboardInterrupt."""
        try:
            self._before[number](number, frame)
        except KeyboardInterrupt:
            if self._immediate or self.requested:
                self.requested = True
                raise
            self.requested = True

    @contextlib.contextmanager
    def immediate(self) -> Iterator[None]:
        """Raise at once while the block runs: it may wait for long."""
        self._immediate = True
        try:
            yield
        finally:
            self._immediate = False


@contextlib.contextmanager
def stop_requests() -> Iterator[StopRequest]:
    """Defer signals while the block runs, which checks `requested` often and then ends early.

    Raises KeyboardInterrupt after the block if a stop was requested.
    """
    before = _handlers()
    asked = StopRequest(before)
    with handled_by(asked, before):
        yield asked
    if asked.requested:
        raise KeyboardInterrupt


def stop_handlers() -> dict[int, Any]:
    """Return the handlers of SIGINT, SIGTERM and SIGHUP by number."""
    numbers = (getattr(signal, name) for name in _NAMES if hasattr(signal, name))
    return {number: signal.getsignal(number) for number in numbers}


@contextlib.contextmanager
def handled_by(handler: _Handler, before: dict[int, Any]) -> Iterator[None]:
    """Let a handler answer the signals of `before` while the block runs, then those again."""
    try:
        for number in before:
            signal.signal(number, handler)
        yield
    finally:
        for number, handler_before in before.items():
            signal.signal(number, handler_before)


@contextlib.contextmanager
def handlers_restored() -> Iterator[None]:
    """Restore the handlers after the block, which may import a library that replaces them."""
    before = stop_handlers()
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is not handler:
                signal.signal(number, handler)


def _handlers() -> dict[int, _Handler]:
    """Return the handlers of stop signals; none outside the main thread, which receives them."""
    if threading.current_thread() is not threading.main_thread():
        return {}
    return {number: handler for number, handler in stop_handlers().items() if callable(handler)}
