"""A job of a batch system: a command, how many tasks run it, and what it needs."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from wordgeom.core.errors import OptionError

TASK = "$TASK_ID"  # what stands for the number of a task, from 1, in a command
_MEBIBYTE = 1 << 20
_MARGIN, _SHARED = 1.25, 256  # of the prediction; mebibytes of libraries, which a limit counts too
_MINUTES, _SLACK = 10, 3.0  # a time is rounded up to minutes; predictions are within a factor
_TIME = re.compile(r"(\d{1,4}-)?(\d{1,6}(?::\d{1,2}){0,2})")
_SHORTEST = 300  # seconds


@dataclass(frozen=True)
class Resources:
    """What one task takes: CPUs, bytes of memory and seconds; None where it is not known."""

    cpus: int
    memory: int | None = None
    seconds: float | None = None

    @property
    def mebibytes(self) -> int | None:
        """The memory to ask for."""
        if self.memory is None:
            return None
        return math.ceil(self.memory * _MARGIN / _MEBIBYTE) + _SHARED

    @property
    def minutes(self) -> int | None:
        """The time to ask for. A run that needs more goes on in the next one."""
        if self.seconds is None:
            return None
        return _MINUTES * math.ceil((_SLACK * self.seconds / 60 + 1) / _MINUTES)


@dataclass(frozen=True)
class Job:
    """A command line of the shell; tasks: how many run it, 0 for one without a number.

    after: the names of the jobs that must have succeeded; inputs: the stores that these have made,
    where the command would make them itself.
    """

    name: str
    line: str
    resources: Resources
    tasks: int = 0
    after: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()


def check_time(text: str) -> str:
    """Return a time as Slurm writes it: `90`, `1:30:00`, `2-12`; raises OptionError."""
    match = _TIME.fullmatch(text)
    if match is None:
        do = "pass minutes, hours:minutes:seconds or days-hours"
        raise OptionError("--time is not a time", found=repr(text), do=do)
    days, parts = int((match[1] or "0-")[:-1]), [int(part) for part in match[2].split(":")]
    # The first number is of minutes, or of hours after days and where there are three.
    units = (3600, 60, 1) if match[1] or len(parts) == 3 else (60, 1)
    seconds = 86400 * days + sum(n * unit for n, unit in zip(parts, units, strict=False))
    if seconds < _SHORTEST:
        do = "a job is asked to end 90 seconds before its time limit"
        raise OptionError(f"--time must be at least {_SHORTEST // 60} minutes", found=text, do=do)
    return text
