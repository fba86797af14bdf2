"""Options of `wordgeom jobs`, and of `plan` for its jobs."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.options import Options, option


@dataclass(frozen=True)
class ShardOptions(Options):
    """Into how many parts a count is split."""

    shards: int = option(1, "shards of each build-cooc", low=1, high=10**6, metavar="N")


@dataclass(frozen=True)
class TaskOptions(Options):
    """What each task of a job may use."""

    cpus: int = option(4, "CPUs of each task", low=1, high=4096, metavar="N")
    memory: float | None = option(
        None, "memory of each task  [as planned]", low=0.3, high=1e6, metavar="GB"
    )
