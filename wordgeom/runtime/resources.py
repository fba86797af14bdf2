"""What a run may use, and its card: what was asked of what, what ran it, what came of it."""

from __future__ import annotations

import contextlib
import logging
import os
import platform
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from wordgeom.core.errors import MissingInputError, OutputExistsError
from wordgeom.core.options import Options, flag, option
from wordgeom.core.version import __version__
from wordgeom.runtime.pool import Pool, available_cpus, available_memory
from wordgeom.runtime.progress import Progress

GIGABYTE = 10**9
FLOOR = 3 * 10**8  # bytes that Python, its libraries and the smallest buffers take
_log = logging.getLogger("wordgeom")
_LIBRARIES = ("numpy", "scipy", "numba", "llvmlite")


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


@dataclass(frozen=True)
class Resources:
    """An open pool, bytes of memory, the folder for scratch files, the seed, progress."""

    pool: Pool
    memory: int
    folder: str | None
    seed: int
    progress: Progress


@contextlib.contextmanager
def resources(options: UseOptions, show: bool = False) -> Iterator[Resources]:
    """Open what a run may use. Raises MissingInputError for a scratch folder that is not there."""
    folder = options.tmp_dir if isinstance(options, RunOptions) else None
    if folder is not None and not os.path.isdir(folder):
        raise MissingInputError("no such folder", where=folder, do="check --tmp-dir")
    memory = int(options.memory * GIGABYTE) or available_memory() // 2
    if show and not options.quiet and memory < FLOOR:
        _log.info("note: --memory %g cannot be kept: the program itself takes %.1f GB",
                  options.memory, FLOOR / GIGABYTE)  # fmt: skip
    with Pool(options.threads or available_cpus()) as pool:
        progress = Progress(show and not options.quiet)
        yield Resources(pool, memory, folder, options.seed, progress)


class Clock:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds so far."""
        return time.perf_counter() - self._start


def card(
    request: Mapping[str, Any], statistics: Mapping[str, Any], seconds: float
) -> dict[str, Any]:
    """Return the run card of an output: the request, the statistics, and what ran it."""
    return {
        "request": dict(request),
        "statistics": dict(statistics),
        "seconds": round(seconds, 3),
        "peak_bytes": peak_memory(),
        "versions": versions(),
        "machine": machine(),
    }


def peak_memory() -> int:
    """Return the most bytes that the whole process has held so far, 0 where nothing tells."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return 0


def versions() -> dict[str, str]:
    """Return the versions that decide the bytes of a result."""
    found = {"wordgeom": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[library] = metadata.version(library)
    return found


def machine() -> dict[str, str]:
    """Return the kind of processor and the linear algebra in use, as far as it is loaded."""
    found = {"system": f"{platform.system()} {platform.machine()}", "processor": _processor()}
    if "threadpoolctl" in sys.modules:
        import threadpoolctl

        for library in threadpoolctl.threadpool_info():
            if library.get("user_api") == "blas":
                kind = (library.get("internal_api"), library.get("version"))
                found["blas"] = " ".join(str(part) for part in (*kind, library.get("architecture")))
    return found


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


def differing_option(asked: Mapping[str, Any], made: Mapping[str, Any]) -> str | None:
    """Return in words how the options of two requests differ, or None."""
    for name, value in asked.items():
        if name not in made:
            return f"made before {flag(name)} was known"
        if made[name] != value:
            return f"made with {flag(name)} {made[name]}, not {value}"
    return None


def refuse_other(where: str | os.PathLike[str], how: str) -> OutputExistsError:
    """Return the error for output that is there and holds something else."""
    do = "pass --force to replace it, or name another with -o"
    return OutputExistsError("exists and holds something else", where=where, found=how, do=do)
