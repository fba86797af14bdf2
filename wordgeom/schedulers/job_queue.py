"""A Dask cluster in the jobs of a batch system, by dask-jobqueue.

The file is YAML in the format of dask-jobqueue's own configuration, with the number of jobs:

    jobs: 8
    jobqueue:
      slurm: {queue: long, cores: 4, memory: 16GB, walltime: "04:00:00", interface: ib0}
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from wordgeom.core.errors import FormatError, SchedulerError, UnavailableError
from wordgeom.core.formatting import install
from wordgeom.runtime.signals import handlers_restored

_CLUSTERS = {
    "htcondor": "HTCondorCluster", "local": "LocalCluster", "lsf": "LSFCluster",
    "moab": "MoabCluster", "oar": "OARCluster", "pbs": "PBSCluster", "sge": "SGECluster",
    "slurm": "SLURMCluster",
}  # fmt: skip
_PRIVATE = {"dashboard": False, "dashboard_address": "127.0.0.1:0"}  # the web pages of Dask
_LARGEST = 1 << 20  # bytes
_EXAMPLE = "see docs/guide/clusters.md"


@contextmanager
def job_queue(path: Path) -> Iterator[Any]:
    """Start the scheduler of a file here, and its workers in jobs; yields the cluster.

    Raises FormatError for another file, UnavailableError without dask-jobqueue, SchedulerError
    where the cluster cannot be started.
    """
    jobs, kind, settings = _read(path)
    make = _cluster_class(path, kind)
    import dask

    key = f"jobqueue.{kind}"
    with dask.config.set({key: {**dask.config.get(key), **settings}}):
        try:
            cluster = make(scheduler_options={**_PRIVATE, **settings.get("scheduler-options", {})})
        except (OSError, RuntimeError, TypeError, ValueError) as error:
            what = f"the cluster cannot be started: {error}"
            raise SchedulerError(what, where=path, do=_EXAMPLE) from error
        with cluster:
            cluster.scale(jobs=jobs)
            yield cluster


def _cluster_class(path: Path, kind: str) -> Any:
    """Return the class of dask-jobqueue for a batch system."""
    try:
        with handlers_restored():  # it installs its own for SIGINT
            return getattr(import_module(f"dask_jobqueue.{kind}"), _CLUSTERS[kind])
    except ImportError as error:
        what = f"{path} needs dask-jobqueue ({error})"
        raise UnavailableError(what, do=install("cluster")) from error


def _read(path: Path) -> tuple[int, str, dict[str, Any]]:
    """Return the number of jobs, the batch system and its settings."""
    import yaml

    try:
        if path.stat().st_size > _LARGEST:
            raise FormatError("is no dask-jobqueue file: too large", where=path, do=_EXAMPLE)
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise FormatError(f"cannot be read: {error}", where=path, do=_EXAMPLE) from error
    parts = content if isinstance(content, dict) else {}
    systems, jobs = parts.get("jobqueue"), parts.get("jobs")
    if not isinstance(systems, dict) or len(systems) != 1 or not set(systems) <= set(_CLUSTERS):
        what = f"needs a table jobqueue with one of {', '.join(_CLUSTERS)}"
        raise FormatError(what, where=path, do=_EXAMPLE)
    if type(jobs) is not int or jobs < 1:
        raise FormatError("needs the number of jobs, such as jobs: 8", where=path, do=_EXAMPLE)
    ((kind, settings),) = systems.items()
    if not isinstance(settings, dict) or not settings.get("interface"):
        what = f"jobqueue.{kind} needs the interface on which workers reach this machine"
        raise FormatError(what, where=path, do="add it, such as interface: ib0")
    return jobs, kind, settings
