"""A step in a process of its own, so that its seconds and its memory are its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from wordgeom.core.errors import InputError
from wordgeom.runtime.provenance import Clock

_PREFIX = "wordgeom: "
_GRACE = 10.0  # seconds that a process has for removing what it began


@dataclass(frozen=True)
class Finished:
    """What a process printed, and its seconds by the clock, from its start to its end."""

    output: str
    seconds: float


def run_module(module: str, arguments: Sequence[str]) -> Finished:
    """Run `python -m module arguments` to its end; it is stopped when this process is.

    Raises InputError with the line that it gave as the reason where it fails.
    """
    clock = Clock()
    command = [sys.executable, "-m", module, *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe) as child:
        try:
            output, complaint = child.communicate()
        except BaseException:
            _stop(child)
            raise
    if child.returncode:
        raise InputError(_reason(complaint.decode("utf-8", "replace"), child.returncode))
    return Finished(output.decode("utf-8", "replace"), clock.seconds())


def _stop(child: subprocess.Popen[bytes]) -> None:
    child.terminate()
    try:
        child.wait(_GRACE)
    except subprocess.TimeoutExpired:
        child.kill()


def _reason(complaint: str, status: int) -> str:
    """Return the last thing that a failed process said, which is why it failed."""
    lines = [line for line in complaint.splitlines() if line.strip()]
    own = [line.removeprefix(_PREFIX) for line in lines if line.startswith(_PREFIX)]
    if status < 0:
        return f"ended by signal {-status}; memory may have run out"
    return (own or lines or [f"ended with status {status}"])[-1]
