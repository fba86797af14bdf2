"""Progress of long loops: a bar on a terminal, a line per minute in a log, nothing if quiet."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from typing import TypeVar

_Item = TypeVar("_Item")
_log = logging.getLogger("wordgeom")
_SECONDS = 60.0


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
        report = _with_bar if sys.stderr.isatty() else _with_lines
        return report(items, label, total, unit, size, done)


def _with_bar(
    items: Iterator[_Item],
    label: str,
    total: int | None,
    unit: str,
    size: Callable[[_Item], int],
    done: int,
) -> Iterator[_Item]:
    from tqdm import tqdm

    spaced = unit if len(unit) == 1 else f" {unit}"  # 3MB, but 3k rows
    with tqdm(
        total=total, desc=label, unit=spaced, unit_scale=True, leave=False, initial=done
    ) as bar:
        for item in items:
            yield item
            bar.update(size(item))


def _with_lines(
    items: Iterator[_Item],
    label: str,
    total: int | None,
    unit: str,
    size: Callable[[_Item], int],
    done: int,
) -> Iterator[_Item]:
    reported = time.monotonic()
    for item in items:
        yield item
        done += size(item)
        if time.monotonic() - reported >= _SECONDS:
            reported = time.monotonic()
            of = f" of {total:,}" if total else ""
            _log.info("%s: %s%s %s", label, f"{done:,}", of, "bytes" if unit == "B" else unit)
