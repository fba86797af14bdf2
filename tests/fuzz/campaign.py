"""Many inputs for readers, in processes that are confined; what comes of it."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from faults.workshop import environment

SECONDS = 5.0  # an input may take


@dataclass(frozen=True)
class Finding:
    """What a reader did with an input that it must not do; number -1: with a valid file."""

    reader: str
    number: int
    what: str

    def __str__(self) -> str:
        return f"{self.reader}, input {self.number}: {self.what}"


def findings(
    readers: Sequence[str], first: int, last: int, seconds: float = SECONDS
) -> list[Finding]:
    """Feed readers the inputs [first:last), in as many processes as they kill.

    Readers that share a process save the second that it takes to start.
    """
    found, left = [], list(readers)
    while left:
        told, at = _process(left, first, last, seconds)
        found += told
        if at is None:
            break
        name, number = at  # where it died: the same reader goes on behind it, alone
        if number >= 0:
            found += findings([name], number + 1, last, seconds) if number + 1 < last else []
        left = left[left.index(name) + 1 :]
    return found


def _process(
    readers: Sequence[str], first: int, last: int, seconds: float
) -> tuple[list[Finding], tuple[str, int] | None]:
    """Return the findings of one process, and the reader and the input at which it died."""
    job = {"names": list(readers), "first": first, "last": last, "seconds": seconds}
    done = subprocess.run(
        [sys.executable, "-m", "fuzz.worker", json.dumps(job)], capture_output=True, text=True,
        env=environment(), check=False,
    )  # fmt: skip
    told = [json.loads(line) for line in done.stdout.splitlines()]
    found = [Finding(*one) for one in told if len(one) == 3]
    if done.returncode == 0:
        return found, None
    assert told, done.stderr  # nothing was read: the harness itself is at fault
    name, number = told[-1][:2]
    return [*found, Finding(name, number, _death(done.returncode, done.stderr))], (name, number)


def _death(status: int, complaint: str) -> str:
    if status == -signal.SIGALRM:
        return "took too long"
    return f"the process ended with {status}: {complaint[-2000:]}"
