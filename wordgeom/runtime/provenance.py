"""The provenance of an output, for its run card: versions, machine, time and memory."""

from __future__ import annotations

import contextlib
import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from importlib import metadata
from pathlib import Path
from typing import Any

from wordgeom.core.version import __version__

_LIBRARIES = ("numpy", "scipy", "numba", "llvmlite")
_configuration: ContextVar[dict[str, str]] = ContextVar("configuration", default={})  # noqa: B039
Request = Mapping[str, Any]
_record: ContextVar[Callable[[Request], dict[str, Any]] | None] = ContextVar("record", default=None)


class Clock:
    """A stopwatch that starts when it is created."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def seconds(self) -> float:
        """Return the elapsed seconds."""
        return time.perf_counter() - self._start


def card(
    request: Mapping[str, Any], statistics: Mapping[str, Any], seconds: float
) -> dict[str, Any]:
    """Return the run card of an output: request, statistics, resources, versions and machine."""
    return {
        "request": dict(request),
        "statistics": dict(statistics),
        "seconds": round(seconds, 3),
        "peak_bytes": peak_memory(),
        "versions": versions(),
        "machine": machine(),
        **_configuration.get(),
        **invocation(request),
    }


@contextlib.contextmanager
def made_by(configuration: Path) -> Iterator[None]:
    """Name the configuration file in the run cards of what is made in the block."""
    token = _configuration.set({"configuration": os.path.realpath(configuration)})
    try:
        yield
    finally:
        _configuration.reset(token)


def configuration() -> dict[str, str]:
    """Return the entry of a run card for the configuration file, empty outside `made_by`."""
    return _configuration.get()


@contextlib.contextmanager
def recording(record: Callable[[Request], dict[str, Any]]) -> Iterator[None]:
    """Add what `record` returns for a request to the run cards of what is made in the block."""
    token = _record.set(record)
    try:
        yield
    finally:
        _record.reset(token)


def invocation(request: Request) -> dict[str, Any]:
    """Return the entry of a run card that `rerun` repeats, empty outside `recording`."""
    record = _record.get()
    return {} if record is None else record(request)


def peak_memory() -> int:
    """Return the peak resident memory of the process in bytes, 0 where it is unknown."""
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/status").read_text(encoding="ascii").splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    return 0


def versions() -> dict[str, str]:
    """Return the versions of the libraries that determine the bytes of a result."""
    found = {"wordgeom": __version__, "python": platform.python_version()}
    for library in _LIBRARIES:
        with contextlib.suppress(metadata.PackageNotFoundError):
            found[library] = metadata.version(library)
    return found


def machine() -> dict[str, str]:
    """Return the system, the processor and the BLAS libraries that are loaded."""
    found = {"system": f"{platform.system()} {platform.machine()}", "processor": _processor()}
    if "threadpoolctl" in sys.modules:
        import threadpoolctl

        names = ("internal_api", "version", "architecture")
        blas = {
            " ".join(str(library.get(name)) for name in names)
            for library in threadpoolctl.threadpool_info()
            if library.get("user_api") == "blas"
        }
        if blas:  # NumPy and SciPy can each bring one
            found["blas"] = ", ".join(sorted(blas))
    return found


def processor_family() -> str:
    """Return the processor family as LLVM names it, which decides the code of the kernels."""
    from llvmlite.binding import get_host_cpu_name

    return str(get_host_cpu_name())


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()
