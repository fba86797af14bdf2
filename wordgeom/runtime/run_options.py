"""The options of every command that computes: threads, memory, seed, output."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.options import Options, option

GIGABYTE = 10**9
FLOOR = 3 * 10**8  # bytes that Python, its libraries and the smallest buffers take


@dataclass(frozen=True)
class UseOptions(Options):
    """How a command that writes no output runs; only the seed can change what it tells."""

    seed: int = option(1, "seed of all that is drawn at random", low=0, high=2**63 - 1)
    threads: int = option(
        0, "threads, 0 for the CPUs that this process may use; the result is the same",
        low=0, high=4096, metavar="N", result=False,
    )  # fmt: skip
    memory: float = option(
        0.0, "memory to stay under, in GB; 0 for half of what there is",
        low=0.0, high=1e6, metavar="GB", result=False,
    )  # fmt: skip
    quiet: bool = option(False, "no progress, no summary", result=False)


@dataclass(frozen=True)
class RunOptions(UseOptions):
    """How a stage runs; only the seed can change what it makes."""

    tmp_dir: str | None = option(
        None, "folder for scratch files instead of the system's", metavar="DIR", result=False
    )
    force: bool = option(False, "replace output that holds something else", result=False)
