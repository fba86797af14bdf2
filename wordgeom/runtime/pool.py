"""A thread pool for blocks of work: ordered results, bounded look-ahead, prompt Ctrl-C.

A block takes at most about 0.2 s of a kernel that has released the GIL. Results are returned in the
order of the blocks, so that a reduction adds them in one order, and returns the same bytes, at any
number of threads.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Generic, Self, TypeVar

_Item = TypeVar("_Item")
_Value = TypeVar("_Value")
THREAD_NAME = "wordgeom"
LOOKAHEAD = 2  # blocks running or queued per thread


class Pool:
    """Worker threads: `with Pool(threads) as pool: pool.map(function, blocks)`."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._executor: ThreadPoolExecutor | None = None

    def __enter__(self) -> Self:
        self._executor = ThreadPoolExecutor(self.threads, thread_name_prefix=THREAD_NAME)
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._executor is not None:
            # Ctrl-C does not wait for a long LAPACK call to finish.
            stopped = kind is not None and issubclass(kind, KeyboardInterrupt)
            self._executor.shutdown(wait=not stopped, cancel_futures=True)
            self._executor = None

    def map(
        self,
        function: Callable[[_Item], _Value],
        items: Iterable[_Item],
        ahead: int | None = None,
        size: Callable[[_Item], int] = lambda _: 1,
    ) -> Iterator[_Value]:
        """Yield function(item) in order; at most `ahead` items beyond the awaited one run.

        size: for how many items one counts.
        """
        if self._executor is None:
            raise RuntimeError("the pool is not open")
        waiting: deque[Future[_Value]] = deque()
        sizes: deque[int] = deque()
        room = self.threads * LOOKAHEAD if ahead is None else ahead
        try:
            for item in items:
                waiting.append(self._executor.submit(function, item))
                sizes.append(size(item))
                del item  # it may be large
                while sum(sizes) > room:
                    sizes.popleft()
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()

    def each(
        self, function: Callable[[_Item], _Value], blocks: Sequence[_Item]
    ) -> Iterator[_Value]:
        """Yield as `map` does; a single block runs on the calling thread.

        To hand a block over takes longer than many kernels take on a small one.
        """
        return map(function, blocks) if len(blocks) == 1 else self.map(function, blocks)

    def call(self, function: Callable[[], _Value]) -> _Value:
        """Return function(), run on a thread so that Ctrl-C interrupts the caller's wait."""
        return next(self.map(lambda _: function(), [None]))


class Reusable(Generic[_Value]):
    """Scratch objects, created on demand and reused, by one thread at a time."""

    def __init__(self, make: Callable[[], _Value]) -> None:
        self._make = make
        self._free: list[_Value] = []
        self._lock = threading.Lock()

    def take(self) -> _Value:
        """Return a free object, or a new one."""
        with self._lock:  # also around make(), which may number or list its objects
            return self._free.pop() if self._free else self._make()

    def give_back(self, piece: _Value) -> None:
        """Return an object for reuse."""
        with self._lock:
            self._free.append(piece)


class PerThread(Generic[_Value]):
    """An object per thread, created at the thread's first call; all: the objects, numbered."""

    def __init__(self, make: Callable[[], _Value]) -> None:
        self._make = make
        self._local = threading.local()
        self._lock = threading.Lock()
        self.all: list[_Value] = []

    def own(self) -> tuple[int, _Value]:
        """Return the number and the object of the calling thread."""
        if not hasattr(self._local, "number"):
            piece = self._make()
            with self._lock:
                self._local.number = len(self.all)
                self.all.append(piece)
        number: int = self._local.number
        return number, self.all[number]


def available_cpus() -> int:
    """Return the number of CPUs allowed by affinity, cgroup quota and SLURM_CPUS_PER_TASK."""
    cpus = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    slurm = os.environ.get("SLURM_CPUS_PER_TASK", "")
    if slurm.isdecimal() and int(slurm) > 0:
        cpus = min(cpus, int(slurm))
    for quota, *period in _cgroup_limits("cpu.max"):
        if quota.isdecimal() and period and period[0].isdecimal():
            cpus = min(cpus, max(1, int(quota) // max(1, int(period[0]))))
    return cpus


def available_memory() -> int:
    """Return the memory of the machine in bytes, or the cgroup limit where that is lower."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    limits = [int(first) for first, *_ in _cgroup_limits("memory.max") if first.isdecimal()]
    return min([total, *limits])


def _cgroup_limits(name: str) -> Iterator[list[str]]:
    """Yield the fields of a limit of the process's cgroup and of its ancestors."""
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
