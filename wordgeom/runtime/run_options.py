"""The options of every command that computes: threads, memory, seed, output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from wordgeom.core.errors import OptionError
from wordgeom.core.options import Options, option

GIGABYTE = 10**9
FLOOR = 3 * 10**8  # bytes that Python, its libraries and the smallest buffers take


@dataclass(frozen=True)
class UseOptions(Options):
    """Options of a command that writes no output; only the seed can change its result."""

    seed: int = option(1, "random seed", low=0, high=2**63 - 1)
    threads: int = option(
        0, "worker threads; 0: all available CPUs", low=0, high=4096, metavar="N", result=False
    )
    memory: float = option(
        0.0, "memory limit in GB, at least 0.3; 0: half of the machine's memory",
        low=0.0, high=1e6, metavar="GB", result=False,
    )  # fmt: skip
    quiet: bool = option(False, "suppress progress, notes and summary", result=False)

    @classmethod
    def asked(cls, values: Mapping[str, Any], others: Mapping[str, Any] | None = None) -> Self:
        """Return the options that a user gave; raises OptionError for too little memory."""
        made = super().asked(values, others)
        if 0 < made.memory * GIGABYTE < FLOOR:
            what = f"--memory must be 0 or at least {FLOOR / GIGABYTE:g}"
            do = "the program itself needs that much"
            raise OptionError(what, found=f"{made.memory:g}", do=do)
        return made


@dataclass(frozen=True)
class RunOptions(UseOptions):
    """Options of a stage that writes output; only the seed can change its content."""

    tmp_dir: str | None = option(None, "directory for temporary files", metavar="DIR", result=False)
    force: bool = option(False, "overwrite existing output", result=False)


@dataclass(frozen=True)
class ResumeOptions(Options):
    """Options of a stage that saves checkpoints, and whose blocks a cluster can compute."""

    resume: bool = option(False, "resume an interrupted run of the same command", result=False)
    checkpoint: float = option(
        5.0, "minutes between checkpoints", low=0.0, high=1e6, metavar="MINUTES", result=False
    )
    scheduler: str | None = option(
        None, "compute on a Dask cluster: tcp://HOST:PORT, local, or a dask-jobqueue file",
        metavar="ADDRESS", result=False,
    )  # fmt: skip
