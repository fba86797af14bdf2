"""Compare what `wordgeom plan` predicts for configuration files with what their runs take.

    python scripts/bench_plan.py [--processor] CONFIG …

Each CONFIG is planned and then run, in an empty directory of its own, and each command is repeated
in a process of its own to measure it. Corpora must be absolute paths, and the tables must say
threads = 2. For each command, the ratios prediction / measurement of words, entries, disk, memory
and time are printed, with the measured values. The exit status is 1 if one misses its factor.
--processor takes the time of the processor instead of the clock's, in plans and runs alike: on a
machine that other programs use, it tells how well time is extrapolated.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from wordgeom.planning.pilot import Cost, read_cost

_PARTS = ("words", "entries", "disk", "memory", "seconds")
THREADS = "2"  # as in the configuration files
_SECOND = 1.0  # that the start of a program may take
_GOOD = {"disk": 1.5, "memory": 1.5, "seconds": 2.0}  # largest factors that are aimed at


def wordgeom(*arguments: str, folder: Path) -> str:
    """Run a command; return what it prints."""
    line = [sys.executable, "-m", "wordgeom", *arguments]
    done = subprocess.run(line, cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode not in (0, 3):
        sys.exit(f"{' '.join(arguments)}: status {done.returncode}")
    return done.stdout


def use_processor_time(folder: Path) -> None:
    """Let the programs that are started here take the processor's time for the clock's."""
    line = "import time\ntime.perf_counter = time.process_time\n"
    (folder / "sitecustomize.py").write_text(line, encoding="ascii")
    os.environ["PYTHONPATH"] = os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])


def compare(config: Path) -> bool:
    """Print the ratios of a configuration file; return whether all are within the factors."""
    good = True
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = json.loads(wordgeom("plan", str(config), "--json", folder=folder))
        wordgeom("run", str(config), "--quiet", folder=folder)
        for number, planned in enumerate(plan["commands"]):
            kept = f"again-{number}"  # `run` is one process, whose peak memory is that of all
            wordgeom("rerun", planned["out"], "-o", kept, "--quiet", "--threads", THREADS,
                     folder=folder)  # fmt: skip
            measured = read_cost(folder / kept / planned["out"])
            cells = [ratio(part, planned, measured) for part in _PARTS]
            bad = [part for part, value, of in cells if not within(part, value, of)]
            good &= not bad
            shown = "  ".join(f"{part} {value:.2f} of {of:,.0f}" for part, value, of in cells if of)
            print(f"{config.name} {planned['command']} {planned['out']}: {shown}"
                  + (f"  MISSED: {', '.join(bad)}" if bad else ""), flush=True)  # fmt: skip
    return good


def ratio(part: str, planned: dict[str, Any], measured: Cost) -> tuple[str, float, float]:
    """Return a part with prediction / measurement, and the measurement."""
    value = float(getattr(measured, part))
    return part, planned[part] / value if value else 1.0, value


def within(part: str, value: float, measured: float) -> bool:
    """Return whether a ratio is within its factor; times are allowed to differ by a second."""
    most = _GOOD.get(part)
    if part == "seconds" and abs(value - 1) * measured < _SECOND:
        return True
    return most is None or 1 / most <= value <= most


def main(arguments: list[str]) -> int:
    """Compare all configuration files; return the exit status."""
    with tempfile.TemporaryDirectory() as folder:
        if arguments[0] == "--processor":
            use_processor_time(Path(folder))
            del arguments[0]
        return 0 if all([compare(Path(one).absolute()) for one in arguments]) else 1


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1:]))
