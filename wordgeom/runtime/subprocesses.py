"""A step in a separate process, so that its time and memory can be measured."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wordgeom.core.errors import InputError
from wordgeom.runtime.provenance import Clock

_PREFIX = "wordgeom: error: "
_GRACE = 10.0  # seconds for a terminated process to clean up


@dataclass(frozen=True)
class Finished:
    """The standard output of a process and its elapsed seconds."""

    output: str
    seconds: float


def run_module(
    module: str, arguments: Sequence[str], follow: Callable[[str], None] | None = None
) -> Finished:
    """Run `python -m module arguments`; the process is stopped when this one is interrupted.

    follow: called with each line of its output as it comes. Raises InputError with the last line
    of its error output if it fails.
    """
    clock = Clock()
    command = [sys.executable, "-m", module, *arguments]
    with (
        tempfile.TemporaryFile() as errors,  # a pipe that is not read would block the process
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors
        ) as child,
    ):
        assert child.stdout is not None
        try:
            lines = []
            for raw in child.stdout:
                lines.append(raw.decode("utf-8", "replace"))
                if follow is not None:
                    follow(lines[-1])
            child.wait()
        except BaseException:
            _stop(child)
            raise
        errors.seek(0)
        said = errors.read().decode("utf-8", "replace")
    if child.returncode:
        raise InputError(_reason(said, child.returncode))
    return Finished("".join(lines), clock.seconds())


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.communicate(timeout=_GRACE)  # what it still prints must not block it
    except subprocess.TimeoutExpired:
        child.kill()


def _reason(errors: str, status: int) -> str:
    """Return the last error message of a failed process."""
    lines = [line for line in errors.splitlines() if line.strip()]
    own = [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]
    if status < 0:
        return f"killed by signal {-status}; memory may have run out"
    return (own or lines or [f"exited with status {status}"])[-1]
