"""Does a run fit? Its cost against the limit of memory and the free disk space."""

from __future__ import annotations

import shutil
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from wordgeom.core.formatting import readable_size
from wordgeom.planning.pilot import Cost

_FEWER = "raise --min-count or pass --max-vocab when counting"


@dataclass(frozen=True)
class Planned:
    """A command, the output that it will write, None for a report, and its cost.

    place: how messages name the table; limit: bytes of --memory; runs: how many runs of that cost
    there are, such as shards.
    """

    place: str
    name: str
    out: Path | None
    cost: Cost
    limit: int
    runs: int = 1

    def cells(self) -> list[str]:
        """Return the row of the table."""
        cost = self.cost
        counts = [f"{n:,}" if n else "" for n in (cost.words, cost.entries, cost.products)]
        sizes = [readable_size(n, 2) if n else "" for n in (cost.disk, cost.temporary, cost.memory)]
        return [self.name, str(self.out or ""), *counts, *sizes, _time(cost.seconds)]

    def facts(self) -> dict[str, Any]:
        """Return the cost as JSON values."""
        out = None if self.out is None else str(self.out)
        return {"command": self.name, "out": out, **asdict(self.cost), "limit": self.limit,
                "runs": self.runs}  # fmt: skip


def problems(planned: list[Planned]) -> list[str]:
    """Return what does not fit, and which option to change."""
    found = []
    for one in planned:
        if one.cost.memory > one.limit:
            need, have = readable_size(one.cost.memory, 2), readable_size(one.limit, 2)
            do = f"pass --memory {one.cost.memory / 1e9:.1f} on a machine that has it"
            what = one.name if one.out is None else f"{one.name} {one.out}"
            found.append(f"{what} needs {need} of memory, and --memory allows "
                         f"{have}; {_FEWER}, or {do}")  # fmt: skip
    places: dict[Path, int] = {}
    written = [(one, one.out.absolute().parent) for one in planned if one.out is not None]
    for one, folder in written:  # outputs stay, and temporary files do not
        places[folder] = places.get(folder, 0) + one.runs * one.cost.disk
    for one, folder in written:
        places[folder] = max(places[folder], one.runs * (one.cost.disk + one.cost.temporary))
    for folder, size in places.items():
        if folder.is_dir() and size > (free := shutil.disk_usage(folder).free):
            need, have = readable_size(size, 2), readable_size(free, 2)
            found.append(f"{folder} needs {need} and has {have} free; free space, or {_FEWER}")
    return found


def _time(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"
