"""Compare what commands ask for before they start with what they take.

    python scripts/bench_needs.py CONFIG …

The commands of each CONFIG run in an empty directory, each in a process of its own. For each, the
disk space that it asked for (least and expected) is printed beside the largest size of the
directory's and the temporary files while it ran, and the memory that its largest check assumed,
with that of the program, beside its peak. Corpora must be absolute paths.
"""

from __future__ import annotations

import logging
import os
import sys
import tempfile
import time
from multiprocessing import Pipe, get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from wordgeom.cli import pipeline
from wordgeom.core.formatting import readable_size
from wordgeom.runtime.memory import PROGRAM
from wordgeom.storage import disk_space
from wordgeom.storage.disk_space import Demand

_STEP = 0.02  # seconds between two looks at the files


def run(folder: str, config: str, number: int, answer: Connection) -> None:
    """Run the command of a step, and send what it asked for and its peak of memory."""
    from wordgeom.runtime.provenance import peak_memory
    from wordgeom.stages import stage as frame_of_stages

    asked: list[Demand] = []
    needs: list[int] = [0]
    check = disk_space.check_space

    def recorded(demand: Demand, *where: Any) -> None:
        asked.append(demand)
        check(demand, *where)

    class Needs(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno == logging.DEBUG and isinstance(record.args, tuple):
                needs.append(int(str(record.args[-1])))

    setattr(frame_of_stages, "check_space", recorded)  # noqa: B010 - imported there
    log = logging.getLogger("wordgeom.runtime.memory")
    log.setLevel(logging.DEBUG)
    log.addHandler(Needs())
    os.chdir(folder)
    tempfile.tempdir = folder
    step = pipeline.read_steps(config)[number]
    stage = step.prepare()
    assert isinstance(stage, frame_of_stages.Stage)
    frame_of_stages.run_stage(stage)
    demand = asked[-1] if asked else Demand()
    answer.send((demand, max(needs), peak_memory()))


def files_in(folder: Path) -> list[Path]:
    """Return the files under a directory, which may change meanwhile."""
    return [Path(base, name) for base, _, names in os.walk(folder) for name in names]


def disk(folder: Path, process: Any) -> int:
    """Return the bytes of the blocks of all files under a directory, and of deleted open ones."""
    seen: dict[tuple[int, int], int] = {}
    places = [folder, Path(f"/proc/{process.pid}/fd")]
    for path in (path for place in places for path in files_in(place)):
        try:
            found, target = path.stat(), os.path.realpath(path)
        except OSError:  # removed meanwhile
            continue
        if target.startswith(str(folder)):
            seen[found.st_dev, found.st_ino] = 512 * found.st_blocks
    return sum(seen.values())


def measured(folder: Path, config: Path, number: int) -> tuple[Demand, int, int, int]:
    """Return what a step asked for, and its peaks of memory and of disk space."""
    here, there = Pipe()
    process = get_context("spawn").Process(target=run, args=(folder, config, number, there))
    process.start()
    before, peak = disk(folder, process), 0
    while process.is_alive():
        peak = max(peak, disk(folder, process))
        time.sleep(_STEP)
    if process.exitcode or not here.poll():
        sys.exit(f"{config} step {number + 1}: status {process.exitcode}")
    demand, needs, memory = here.recv()
    return demand, needs, memory, peak - before


def report(config: Path) -> None:
    """Run the steps of a configuration file, and print a line for each."""
    with tempfile.TemporaryDirectory() as name:
        for number, step in enumerate(pipeline.read_steps(str(config))):
            demand, needs, memory, peak = measured(Path(name), config, number)
            space = demand.output + demand.scratch
            shown = [readable_size(n) for n in (space.least, space.expected, peak)]
            line = f"{config.name} {step.place.split()[-1]}: disk at least {shown[0]}, expected "
            line += f"{shown[1]}, took {shown[2]} (ratio {space.expected / max(1, peak):.2f})"
            if needs:
                ratio = (needs + PROGRAM) / memory
                line += f"; memory {readable_size(needs + PROGRAM)}, took {readable_size(memory)}"
                line += f" (ratio {ratio:.2f})"
            print(line, flush=True)


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    for one in sys.argv[1:]:
        report(Path(one).absolute())
