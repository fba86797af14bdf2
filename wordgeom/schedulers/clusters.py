"""What `--scheduler` names: an address, processes of this machine, or a dask-jobqueue file."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

from wordgeom.core.errors import MissingInputError, SchedulerError, UnavailableError
from wordgeom.core.formatting import install
from wordgeom.runtime.scheduler import Cluster
from wordgeom.schedulers.dask_scheduler import DaskScheduler
from wordgeom.schedulers.shared_folder import shared_folder

_log = logging.getLogger(__name__)
LOCAL = "local"
_PROTOCOLS = ("tcp://", "tls://")
_TIMEOUT = 10.0  # seconds to connect
_HERE = "127.0.0.1"


@contextmanager
def open_scheduler(cluster: Cluster, threads: int, scratch: str | None) -> Iterator[DaskScheduler]:
    """Connect to a cluster and create the shared folder; removed at the end.

    threads: processes of `local`. Raises what `connected`, `shared_folder` and DaskScheduler raise.
    """
    with (
        shared_folder(cluster.folder) as folder,
        connected(cluster.name, threads, scratch) as client,
        contextlib.closing(DaskScheduler(client, folder)) as scheduler,
    ):
        yield scheduler
        if not scheduler.used:
            _log.info("note: this run had no work that is worth sending to the cluster")


@contextmanager
def connected(scheduler: str, threads: int, scratch: str | None) -> Iterator[Any]:
    """Connect to the cluster that `--scheduler` names; yields a distributed.Client.

    threads: processes of `local`. Raises UnavailableError, SchedulerError, MissingInputError.
    """
    _require_dask()
    from distributed import Client

    with _silent(), _address(scheduler, threads, scratch) as address:
        try:
            client = Client(address, timeout=_TIMEOUT, set_as_default=False)
        except (OSError, ValueError, RuntimeError) as error:
            do = "check the address and whether dask scheduler is running"
            found = str(error) or f"no answer within {_TIMEOUT:g} seconds"
            what = f"cannot connect to the scheduler: {found}"
            raise SchedulerError(what, where=scheduler, do=do) from error
        with contextlib.closing(client):
            yield client


@contextmanager
def _silent() -> Iterator[None]:
    """Silence what Dask logs about lost connections, which errors of one line report."""
    names = [name for name in logging.root.manager.loggerDict if name.startswith("distributed")]
    levels = {name: logging.getLogger(name).level for name in names}
    try:
        for name in names:
            logging.getLogger(name).setLevel(logging.CRITICAL)
        yield
    finally:
        for name, level in levels.items():
            logging.getLogger(name).setLevel(level)


def _require_dask() -> None:
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        what = f"--scheduler needs Dask ({error})"
        raise UnavailableError(what, do=install("cluster")) from error


@contextmanager
def _address(scheduler: str, threads: int, scratch: str | None) -> Iterator[Any]:
    """Yield what a client connects to, an address or a cluster."""
    if scheduler.startswith(_PROTOCOLS):
        _check_address(scheduler)
        yield scheduler
    elif scheduler == LOCAL:
        with _local(threads, scratch) as cluster:
            yield cluster
    elif os.path.exists(scheduler):
        from wordgeom.schedulers.job_queue import job_queue

        with job_queue(Path(scheduler)) as cluster:
            yield cluster
    else:
        do = "pass tcp://HOST:PORT, tls://HOST:PORT, local, or a dask-jobqueue file"
        raise MissingInputError("no such scheduler", where=scheduler, do=do)


def _check_address(address: str) -> None:
    """Raise SchedulerError for an address without a port, or of TLS without certificates."""
    from distributed.security import Security

    if not address.rpartition(":")[2].isdecimal():
        do = "add it, such as tcp://HOST:8786"
        raise SchedulerError("the address has no port", where=address, do=do)
    ready = Security().get_connection_args("client").get("ssl_context") is not None
    if address.startswith("tls://") and not ready:
        do = "configure them (docs/guide/clusters.md#security)"
        raise SchedulerError("TLS needs certificates", where=address, do=do)


def _local(threads: int, scratch: str | None) -> Any:
    """Return processes of one thread each, which only this machine can reach."""
    from distributed import LocalCluster

    with _interrupts_held():
        return LocalCluster(
            n_workers=threads,
            threads_per_worker=1,
            host=_HERE,
            dashboard_address=f"{_HERE}:0",
            worker_dashboard_address=f"{_HERE}:0",
            scheduler_kwargs={"dashboard": False},
            memory_limit=0,  # Dask would restart a worker for the pages of the files that it maps
            local_directory=scratch,
            silence_logs=logging.CRITICAL,
        )


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Hold SIGINT back in the threads and processes that start in the block.

    A terminal sends Ctrl-C to all processes of a command. This process stops the workers.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # which would end the hold where it starts
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
