"""What produced an output: versions, machine, time and memory, for its run card."""

from __future__ import annotations

import contextlib
import platform
import sys
import time
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from wordgeom.core.version import __version__

_LIBRARIES = ("numpy", "scipy", "numba", "llvmlite")


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
