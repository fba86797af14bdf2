"""The device of a run, NumPy on the CPU or Torch on a GPU, and the context of its computation."""

from __future__ import annotations

import contextlib
import logging
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager
from functools import cache, partial

from wordgeom.core.errors import MissingInputError, OptionError, UnavailableError
from wordgeom.core.formatting import exceeding
from wordgeom.core.ops import Ops
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import return_freed
from wordgeom.runtime.pool import Pool, available_cpus, available_memory
from wordgeom.runtime.progress import Progress
from wordgeom.runtime.run_options import GIGABYTE, RunOptions, UseOptions
from wordgeom.runtime.scheduler import Cluster, Scheduler

_log = logging.getLogger(__name__)
_TORCH_DEVICES = {"cuda": "cuda", "torch-cpu": "cpu"}  # the second is for tests


def get_ops(device: str, pool: Pool) -> Ops:
    """Return the linear algebra of a device: cpu, cuda or torch-cpu.

    Raises UnavailableError where Torch or CUDA is missing, OptionError for an unknown device.
    """
    if device == "cpu":
        from wordgeom.linalg.numpy_ops import NumpyOps  # its kernels import Numba

        return NumpyOps(pool)
    if device not in _TORCH_DEVICES:
        raise OptionError("--device must be cpu or cuda", found=repr(device))
    require_torch(f"--device {device}", "use --device cpu")
    from wordgeom.linalg.torch_ops import TorchOps

    return TorchOps(_TORCH_DEVICES[device])


def require_torch(what: str, instead: str) -> None:
    """Raise UnavailableError where `what` cannot import Torch; instead: another remedy."""
    try:
        import torch  # noqa: F401
    except (ImportError, OSError) as error:  # OSError: a missing shared library
        do = f"pip install torch, or {instead}"
        raise UnavailableError(f"{what} needs Torch ({error})", do=do) from error


def memory_limit(options: UseOptions) -> int:
    """Return the bytes of `--memory`, or half of the machine's memory."""
    return int(options.memory * GIGABYTE) or available_memory() // 2


@contextlib.contextmanager
def open_context(
    options: UseOptions, device: str = "cpu", *, show: bool = False, cluster: Cluster | None = None
) -> Iterator[Context]:
    """Open the threads, memory limit, scratch space and linear algebra of a run.

    show: display progress bars; cluster: computes large blocks. Raises MissingInputError for a
    missing scratch directory, OptionError for a cluster with a GPU, and what `get_ops` and
    `open_scheduler` raise.
    """
    scratch = options.tmp_dir if isinstance(options, RunOptions) else None
    if scratch is not None and not os.path.isdir(scratch):
        raise MissingInputError("no such directory", where=scratch, do="check --tmp-dir")
    memory = memory_limit(options)
    _warn_of_excess(memory)
    return_freed(memory)
    show = show and not options.quiet
    context = partial(
        Context, memory=memory, seed=options.seed, scratch=scratch, progress=Progress(show)
    )
    with Pool(options.threads or available_cpus()) as pool:
        if cluster is not None:
            with _opened(cluster, device, pool.threads, scratch) as scheduler:
                ops = cache(partial(_cluster_ops, pool, scheduler))
                yield context(pool, ops, cluster=scheduler)
            return
        open_ops = cache(partial(get_ops, device, pool))
        if device != "cpu":  # a missing GPU is reported before any work
            open_ops()
        yield context(pool, open_ops)


def _warn_of_excess(memory: int) -> None:
    """Log a warning where `--memory` allows more than there is: the system would end the run."""
    if memory > (there := available_memory()):
        asked, have = exceeding(memory, there)
        line = "warning: --memory allows %s, and this machine has %s of memory; lower it"
        _log.warning(line, asked, have)


def _opened(
    cluster: Cluster, device: str, threads: int, scratch: str | None
) -> AbstractContextManager[Scheduler]:
    if device != "cpu":
        what = f"--scheduler computes on CPUs, not with --device {device}"
        raise OptionError(what, do="omit one of the two")
    from wordgeom.schedulers.clusters import open_scheduler  # imports Dask

    return open_scheduler(cluster, threads, scratch)


def _cluster_ops(pool: Pool, scheduler: Scheduler) -> Ops:
    from wordgeom.linalg.cluster_ops import ClusterOps

    return ClusterOps(pool, scheduler)
