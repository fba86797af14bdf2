"""Progress of long loops: a bar on a terminal or in a notebook, else a line per minute in a log."""

from __future__ import annotations

import logging
import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from typing import Any, TypeVar

_Item = TypeVar("_Item")
_log = logging.getLogger("wordgeom")
_SECONDS = 60.0
_MANY = 1000  # items, from which counts are shortened: 8/40, but 1.66k/2.72k
_SHARE, _ENOUGH = 0.05, 3.0  # of the work, and seconds, that an estimate needs


class Progress:
    """Reports the progress of iterators, unless `show` is False."""

    def __init__(self, show: bool = False) -> None:
        self._show = show

    def follow(
        self,
        items: Iterator[_Item],
        label: str,
        total: int | None,
        unit: str,
        size: Callable[[_Item], int],
        done: int = 0,
    ) -> Iterator[_Item]:
        """Yield the items and report how much of `total` is done.

        total: None where unknown; size: of an item, in `unit`; done: size of the earlier items.
        """
        if not self._show:
            return items
        return _reported(items, size, partial(self.bar, label, total, unit, done))

    def bar(self, label: str, total: int | None, unit: str, done: int = 0) -> Any:
        """Return an object whose `update(size)` reports work, and which must be closed."""
        if not self._show:
            return _Nothing()
        report = _bar if sys.stderr.isatty() or _in_notebook() else _Lines
        return report(label, total, unit, done)


def _in_notebook() -> bool:
    """Return whether a notebook shows standard error."""
    return type(sys.stderr).__module__.startswith("ipykernel")


def _reported(
    items: Iterator[_Item], size: Callable[[_Item], int], report: Callable[[], Any]
) -> Iterator[_Item]:
    with closing(report()) as progress:
        for item in items:
            yield item
            progress.update(size(item))


def _bar(label: str, total: int | None, unit: str, done: int) -> Any:
    from tqdm import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        """A bar that estimates the time left once enough is done to tell."""

        pace = Pace(total or 0, done)

        def update(self, n: float | None = 1) -> Any:
            self.pace.update(int(n or 0), time.monotonic())
            return super().update(n)

        @property
        def format_dict(self) -> Any:
            seconds = self.pace.left()
            left = "" if seconds is None else f", {self.format_interval(seconds)} left"
            return {**super().format_dict, "left": left}

    spaced = unit if len(unit) == 1 else f" {unit}"  # 3MB, but 3k rows
    shape = "{l_bar}{bar}| {n_fmt}/{total_fmt} [{elapsed}{left}]" if total else None
    return Bar(
        total=total, desc=label, unit=spaced, unit_scale=(total or _MANY) >= _MANY, leave=False,
        initial=done, bar_format=shape,
    )  # fmt: skip


class Pace:
    """Estimates the time left from the work done since the first item, which may compile kernels.

    total: size of the work; done: at the start.
    """

    def __init__(self, total: int, done: int) -> None:
        self._total, self._done = total, done
        self._first: tuple[int, float] | None = None
        self._last = 0.0

    def update(self, size: int, now: float) -> None:
        """Count work that was done just now, at a time in seconds."""
        self._done, self._last = self._done + size, now
        self._first = self._first or (self._done, now)

    def left(self) -> float | None:
        """Return the seconds left, None before 5 % and 3 s of the work have shown the pace."""
        begun, since = self._first or (self._done, self._last)
        work, seconds = self._done - begun, self._last - since
        if work <= 0 or work < _SHARE * self._total or seconds < _ENOUGH:
            return None
        return max(self._total - self._done, 0) * seconds / work


class _Nothing:
    """Reports nothing."""

    def update(self, size: int) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class _Lines:
    """Logs a line per minute."""

    def __init__(self, label: str, total: int | None, unit: str, done: int) -> None:
        self._label, self._done = label, done
        self._of = (f" of {total:,} " if total else " ") + ("bytes" if unit == "B" else unit)
        self._reported, self._pace = time.monotonic(), Pace(total or 0, done)

    def update(self, size: int) -> None:
        """Count what was done, and log it once a minute."""
        self._done, now = self._done + size, time.monotonic()
        self._pace.update(size, now)
        if now - self._reported >= _SECONDS:
            self._reported, seconds = now, self._pace.left()
            left = "" if not seconds else f", about {math.ceil(seconds / 60)} min left"
            _log.info("%s: %s%s%s", self._label, f"{self._done:,}", self._of, left)

    def close(self) -> None:
        """Do nothing: each line is written at once."""
