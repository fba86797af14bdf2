"""Run one checkout's program on the files that another one wrote."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from same_bytes_commands import PHASES
from same_bytes_items import describe
from same_bytes_runs import Program, commit

_UP_TO_DATE = "up to date"


def reopen(before: Mapping[str, Any], program: Program) -> dict[str, Any]:
    """Run a program on a copy of the outputs of `before`; return the digest of what it writes.

    First every command runs again, with --resume if it has that option, and must answer that its
    output is up to date. Then each phase is repeated, the last one first, so that it reads files of
    the other program alone. Commands that fail are listed in `failed`.
    """
    work = program.work
    shutil.copytree(before["outputs"], work, symlinks=True, dirs_exist_ok=True)
    program.place_configs()
    _repeat(program, Path(before["outputs"]), before["items"])
    items = {n: describe(work, n) for n in before["items"] if (work / n).is_file()}
    for number in reversed(range(1, len(PHASES))):
        names = [name for name, item in before["items"].items() if item["phase"] == number]
        _remove(work, names)
        program.run(PHASES[number])
        items = {name: one for name, one in items.items() if name not in names}
        items |= {name: describe(work, name) for name in names if (work / name).is_file()}
    return {
        "checkout": f"{program.checkout} on the other's files",
        "commit": commit(program.checkout),
        "outputs": str(work),
        "inputs": before["inputs"],
        "failed": program.failed,
        "items": items,
    }


def _repeat(program: Program, outputs: Path, names: Collection[str]) -> None:
    """Run every command again over its output; record those that do not leave it as it is."""
    places = {Path(name).parts[1] for name in names if name.startswith("configs/")}
    configs = [line for line in program.config_lines() if Path(line.place).name in places]
    lines = [*configs, *(line for phase in PHASES for line in phase)]
    for done in program.run(line.resumed() for line in lines if line.makes):
        if done.status == 0 and _UP_TO_DATE not in done.printed:
            message = f"did not answer {_UP_TO_DATE!r}: {done.message}"
            program.failed[str(done.line)] = message
    for name in names:
        path = program.work / name
        if not path.is_file() or path.stat().st_mtime_ns != (outputs / name).stat().st_mtime_ns:
            program.failed[f"repeat: {name}"] = "was written again"


def _remove(work: Path, names: list[str]) -> None:
    """Remove files, and the directories that are then empty."""
    for name in names:
        (work / name).unlink(missing_ok=True)
    for place in {(work / name).parent for name in names} - {work}:
        if place.is_dir() and not any(place.iterdir()):
            place.rmdir()
