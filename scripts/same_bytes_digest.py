"""The digest of a checkout: sizes and checksums of all files that its commands write."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import same_bytes_inputs
from same_bytes_commands import PHASES
from same_bytes_items import describe, files
from same_bytes_runs import Program, commit


def digest(data: Path, checkout: Path, work: Path, jobs: int) -> dict[str, Any]:
    """Run all command lines in `work`, an empty directory, and return the digest.

    items: name → phase, bytes, sha256; failed: line → message; outputs: where the files lie.
    """
    work = work.resolve()
    same_bytes_inputs.write_inputs(data, work / "inputs")
    program = Program(checkout.resolve(), work, work.with_name(f"{work.name}.cache"), jobs)
    program.place_configs()
    items: dict[str, dict[str, Any]] = {}
    for number, phase in enumerate(PHASES):
        program.run([*(program.config_lines() if number == 0 else ()), *phase])
        new = [name for name in files(work) if name not in items]
        items |= {name: {"phase": number, **describe(work, name)} for name in new}
    return {
        "checkout": str(checkout),
        "commit": commit(checkout),
        "outputs": str(work),
        "inputs": same_bytes_inputs.digest(work / "inputs"),
        "failed": program.failed,
        "items": items,
    }


@contextmanager
def work_directory(kept: Path | None) -> Iterator[Path]:
    """Yield an empty directory: `kept`, or one that is removed when the block ends."""
    if kept is not None:
        if kept.exists():
            raise SystemExit(f"{kept} exists: name a new directory")
        kept.mkdir(parents=True)
        yield kept
        return
    with tempfile.TemporaryDirectory(prefix="same_bytes.") as name:
        (Path(name) / "work").mkdir()
        yield Path(name) / "work"
