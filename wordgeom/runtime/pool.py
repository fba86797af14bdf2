"""Blocks of work on threads: ordered results, bounded look-ahead, prompt Ctrl-C.

A block is at most about .2 s of a kernel that has released the GIL. Results come back in the
order of the blocks whatever the number of threads, so that a reduction over them adds in one
order and gives the same bytes.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

_Item = TypeVar("_Item")
_Value = TypeVar("_Value")
THREAD_NAME = "wordgeom"
_LOOKAHEAD = 2  # blocks under way or waiting, for each thread


class Pool:
    """Threads that run blocks; `with Pool(threads) as pool: pool.map(f, blocks)`."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._executor: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        self._executor = ThreadPoolExecutor(self.threads, thread_name_prefix=THREAD_NAME)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._executor is not None:
            # Whoever pressed Ctrl-C does not wait for a long call into LAPACK to end.
            stopped = kind is not None and issubclass(kind, KeyboardInterrupt)
            self._executor.shutdown(wait=not stopped, cancel_futures=True)
            self._executor = None

    def map(
        self, function: Callable[[_Item], _Value], items: Iterable[_Item], ahead: int | None = None
    ) -> Iterator[_Value]:
        """Yield function(item) in order, running at most `ahead` items beyond the one awaited."""
        if self._executor is None:
            raise RuntimeError("the pool is not open")
        waiting: deque[Future[_Value]] = deque()
        room = self.threads * _LOOKAHEAD if ahead is None else ahead
        try:
            for item in items:
                waiting.append(self._executor.submit(function, item))
                if len(waiting) > room:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def call(self, function: Callable[[], _Value]) -> _Value:
        """Return function(), run on a thread: the caller can be interrupted while it waits."""
        return next(self.map(lambda _: function(), [None]))


class Reusable(Generic[_Value]):
    """Scratch space, made at first need and lent to one thread at a time."""

    def __init__(self, make: Callable[[], _Value]) -> None:
        self._make = make
        self._free: list[_Value] = []
        self._lock = threading.Lock()

    def take(self) -> _Value:
        """Return a piece of scratch that nobody holds."""
        with self._lock:  # also around make(): what makes a piece may number or list it
            return self._free.pop() if self._free else self._make()

    def give_back(self, piece: _Value) -> None:
        """Let another thread have the piece."""
        with self._lock:
            self._free.append(piece)


class PerThread(Generic[_Value]):
    """A piece for each thread, made when the thread first asks; `all` of them, numbered."""

    def __init__(self, make: Callable[[], _Value]) -> None:
        self._make = make
        self._local = threading.local()
        self._lock = threading.Lock()
        self.all: list[_Value] = []

    def own(self) -> tuple[int, _Value]:
        """Return the calling thread's number and piece."""
        if not hasattr(self._local, "number"):
            piece = self._make()
            with self._lock:
                self._local.number = len(self.all)
                self.all.append(piece)
        number: int = self._local.number
        return number, self.all[number]


def available_cpus() -> int:
    """Return the CPUs that this process may use: affinity, cgroup quota, SLURM_CPUS_PER_TASK."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    slurm = os.environ.get("SLURM_CPUS_PER_TASK", "")
    if slurm.isdecimal() and int(slurm) > 0:
        cpus = min(cpus, int(slurm))
    for quota, *period in _cgroup_limits("cpu.max"):
        if quota.isdecimal() and period and period[0].isdecimal():
            cpus = min(cpus, max(1, int(quota) // max(1, int(period[0]))))
    return cpus


def available_memory() -> int:
    """Return the bytes of memory that this process may use: the cgroup's limit or the machine's."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [int(first) for first, *_ in _cgroup_limits("memory.max") if first.isdecimal()]
    return min([total, *limits])


def _cgroup_limits(name: str) -> Iterator[list[str]]:
    """Yield the fields of a limit of this process's cgroup and of those above it."""
    root = Path("/sys/fs/cgroup")
    try:
        lines = Path("/proc/self/cgroup").read_text(encoding="utf-8").splitlines()
    except OSError:
        return
    own = next((line[3:].strip("/") for line in lines if line.startswith("0::")), "")
    folder = root / own
    for place in (folder, *folder.parents):
        if not place.is_relative_to(root):
            return
        with contextlib.suppress(OSError):
            fields = (place / name).read_text(encoding="ascii").split()
            if fields:
                yield fields
