"""A step in a separate process, so that its time and memory can be measured."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
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


def run_module(module: str, arguments: Sequence[str]) -> Finished:
    """Run `python -m module arguments`; the process is stopped when this one is interrupted.

    Raises InputError with the last line of its error output if it fails.
    """
    clock = Clock()
    command = [sys.executable, "-m", module, *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe) as child:
        try:
            output, errors = child.communicate()
        except BaseException:
            _stop(child)
            raise
    if child.returncode:
        raise InputError(_reason(errors.decode("utf-8", "replace"), child.returncode))
    return Finished(output.decode("utf-8", "replace"), clock.seconds())


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(_GRACE)
    except subprocess.TimeoutExpired:
        child.kill()


def _reason(errors: str, status: int) -> str:
    """Return the last error message of a failed process."""
    lines = [line for line in errors.splitlines() if line.strip()]
    own = [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]
    if status < 0:
        return f"killed by signal {-status}; memory may have run out"
    return (own or lines or [f"exited with status {status}"])[-1]
