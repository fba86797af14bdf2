"""Single-threaded BLAS inside blocks of the pool, so that its sums have one order."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from typing import Any


class _Limit:
    """A limit that the first of several nested or concurrent uses sets, and the last one lifts.

    To set it takes 30 µs, which is more than a product of small arrays.
    """

    def __init__(self, controller: Any) -> None:
        self._controller, self._lock, self._uses = controller, threading.Lock(), 0
        self._set = contextlib.ExitStack()

    def __enter__(self) -> None:
        with self._lock:
            self._uses += 1
            if self._uses == 1:
                self._set.enter_context(self._controller.limit(limits=1, user_api="blas"))

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._uses -= 1
            if self._uses == 0:
                self._set.close()


@contextlib.contextmanager
def one_thread(*, scipy: bool = False) -> Iterator[None]:
    """Run every BLAS call of the context on the calling thread alone.

    scipy: also those of SciPy, where it may be loaded only within: its own BLAS is found only then.
    """
    if scipy:
        import_module("scipy.linalg")
    with _limit("scipy.linalg" in sys.modules):
        yield


@cache
def _limit(_with_scipy: bool) -> _Limit:
    from threadpoolctl import ThreadpoolController

    return _Limit(ThreadpoolController())
