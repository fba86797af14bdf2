"""A Dask scheduler and its workers in processes of their own, and blocks that they compute."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.runtime.scheduler import Cluster, Result, Shared
from wordgeom.schedulers.clusters import open_scheduler
from wordgeom.schedulers.dask_scheduler import DaskScheduler
from wordgeom.storage import files

_TESTS = Path(__file__).parent
PATH = os.pathsep.join([str(_TESTS.parent), str(_TESTS)])  # of workers, to import these blocks
_PATIENCE = 60.0  # seconds for a scheduler to start
_MODULE = "distributed.cli.dask_"


class DaskCluster:
    """A scheduler on 127.0.0.1 and workers of one thread: `with DaskCluster(folder, 2) as …`."""

    def __init__(self, folder: Path, workers: int) -> None:
        self._folder, self._number = folder, workers
        self.workers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Self:
        self.start_scheduler()
        for _ in range(self._number):
            self.start_worker()
        return self

    def __exit__(self, *_: object) -> None:
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()

    def start_scheduler(self) -> None:
        """Start a scheduler; address: where it listens."""
        place = self._folder / f"scheduler-{time.monotonic_ns()}.json"
        options = "--host", "127.0.0.1", "--port", "0", "--no-dashboard"
        self.scheduler = self._start("scheduler", *options, "--scheduler-file", str(place))
        until = time.monotonic() + _PATIENCE
        while not place.exists() or not place.read_text().endswith("}"):
            assert self.scheduler.poll() is None
            assert time.monotonic() < until
            time.sleep(0.02)
        self.address: str = json.loads(place.read_text())["address"]

    def start_worker(self) -> None:
        """Start a worker without a process that would restart it."""
        options = "--nthreads", "1", "--no-nanny", "--no-dashboard", "--memory-limit", "0"
        here = "--local-directory", str(self._folder), "--dashboard-address", "127.0.0.1:0"
        self.workers.append(self._start("worker", self.address, *options, *here))

    def _start(self, what: str, *options: str) -> subprocess.Popen[bytes]:
        with open(self._folder / f"{what}.log", "ab") as log:
            command = [sys.executable, "-m", f"{_MODULE}{what}", *options]
            environment = {**os.environ, "PYTHONPATH": PATH}
            return subprocess.Popen(command, stdout=log, stderr=log, env=environment)


@dataclass(frozen=True)
class Sums:
    """The spec of `sums`: rows, and the process that must not compute."""

    rows: Shared
    wait: float = 0.0


def sums(block: tuple[int, int], spec: Sums) -> Result:
    """Return the sums of some rows, and the process that computed them."""
    time.sleep(spec.wait)
    rows = spec.rows.open()[slice(*block)]
    return {"sums": rows.sum(axis=1), "process": np.array([os.getpid()])}


def fail(block: int, spec: None) -> Result:
    """Raise an error that a user can cause."""
    raise InputError("has no rows", where="table.tsv", found=block)


def fill_disk(block: int, spec: None) -> Result:
    """Find the disk of the shared folder full when the result is written."""

    def full(step: str, path: Path) -> None:
        if step == "write":
            files.boundary = before
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before, files.boundary = files.boundary, full
    return {"zeros": np.zeros(block)}


def blocks_of(rows: int, size: int) -> list[tuple[int, int]]:
    """Cut rows into blocks."""
    return [(start, min(start + size, rows)) for start in range(0, rows, size)]


@contextmanager
def dask_scheduler(address: str, folder: Path) -> Iterator[DaskScheduler]:
    """Connect to a scheduler as a run does."""
    with open_scheduler(Cluster(address, folder), 1, None) as scheduler:
        yield scheduler
