"""The disk space of a run, checked before it starts: what it will write, and what is free."""

from __future__ import annotations

import logging
import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from wordgeom.core.errors import WriteError
from wordgeom.core.formatting import exceeding

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Space:
    """Bytes of disk space: at least, and expected."""

    least: int = 0
    expected: int = 0

    @classmethod
    def exactly(cls, size: int) -> Self:
        """Return the space of a size that is known."""
        return cls(size, size)

    def __add__(self, other: Space) -> Space:
        return Space(self.least + other.least, self.expected + other.expected)


@dataclass(frozen=True)
class Demand:
    """The disk space of a run, at its peak.

    output: in the directory of the output, with temporary files there; scratch: in the directory of
    temporary files; do: what lowers it.
    """

    output: Space = Space()
    scratch: Space = Space()
    do: str = ""


def check_space(demand: Demand, folder: Path, scratch: str | None, freed: int = 0) -> None:
    """Raise WriteError where the least does not fit; log a warning where the expected may not.

    folder: of the output; scratch: directory of temporary files, None for the system's; freed:
    bytes in the folder that the run takes over or removes.
    """
    temporary = Path(scratch or tempfile.gettempdir())
    places = [(folder, demand.output, freed, "-o"), (temporary, demand.scratch, 0, "--tmp-dir")]
    if demand.scratch.expected and _device(folder) == _device(temporary):
        places = [(folder, demand.output + demand.scratch, freed, "-o")]
    for place, space, more, option in places:
        if space.expected and place.is_dir():
            free = shutil.disk_usage(place).free + more
            do = " or ".join(filter(None, [demand.do, f"name another directory with {option}"]))
            _check(place, space, free, f"free space, {do}")


def _check(place: Path, space: Space, free: int, do: str) -> None:
    if space.least > free:
        need, have = exceeding(space.least, free)
        what = f"the run needs at least {need} of disk space"
        raise WriteError(what, where=place, found=f"{have} free", do=do)
    if space.expected > free:
        need, have = exceeding(space.expected, free)
        line = "warning: %s: the run is expected to need %s of disk space, and %s is free; %s"
        _log.warning(line, place, need, have, do)


def _device(folder: Path) -> int | None:
    """Return the number of a directory's file system, None where there is no such directory."""
    try:
        return os.stat(folder).st_dev
    except OSError:
        return None
