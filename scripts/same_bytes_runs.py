"""Run the command lines of scripts/same_bytes with the program of one checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from same_bytes_commands import Line
from same_bytes_inputs import config_inputs

_SHOWN = 300  # characters of the output of a command that failed
_WHERE = "import importlib.util as u; print(u.find_spec('wordgeom').origin)"
_CONFIGS = "configs"


@dataclass(frozen=True)
class Done:
    """The exit status of a command line, and what it printed."""

    line: Line
    status: int
    printed: str

    @property
    def message(self) -> str:
        """The exit status and the end of the output, in one line."""
        return f"exit status {self.status}: {' '.join(self.printed.split())[-_SHOWN:]}"


@dataclass
class Program:
    """The program of a checkout, which runs in the directory `work`.

    cache: its WORDGEOM_CACHE; jobs: how many lines run side by side; failed: line → message.
    """

    checkout: Path
    work: Path
    cache: Path
    jobs: int
    failed: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = subprocess.run(
            [sys.executable, "-c", _WHERE], cwd=self.work, env=self._environment(),
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        if not Path(found.stdout.strip()).is_relative_to(self.checkout):
            raise SystemExit(f"{self.checkout} is no checkout of wordgeom: {found.stdout.strip()}")

    def run(self, lines: Iterable[Line]) -> list[Done]:
        """Run lines side by side; record those that fail."""
        with ThreadPoolExecutor(self.jobs) as pool:
            done = list(pool.map(self._run, lines))
        self.failed |= {str(one.line): one.message for one in done if one.status != 0}
        return done

    def config_lines(self) -> list[Line]:
        """Return the lines that run the checkout's files of configs/, each in its own directory."""
        found = sorted((self.checkout / _CONFIGS).glob("*.toml"))
        return [Line(("run", path.name), place=f"{_CONFIGS}/{path.stem}") for path in found]

    def place_configs(self) -> None:
        """Put the checkout's files of configs/ and their inputs where their lines run."""
        for path in sorted((self.checkout / _CONFIGS).glob("*.toml")):
            place = self.work / _CONFIGS / path.stem
            place.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, place / path.name)
            for name, source in config_inputs(self.work / "inputs").items():
                if not (place / name).exists():
                    (place / name).symlink_to(os.path.relpath(source, place))

    def _run(self, line: Line) -> Done:
        place = self.work / line.place
        command = [sys.executable, "-m", "wordgeom", *line.words]
        given = (place / line.reads).read_bytes() if line.reads else b""
        began = time.monotonic()
        ended = subprocess.run(
            command, cwd=place, env=self._environment(), input=given, capture_output=True
        )
        if line.writes and not ended.returncode:
            (place / line.writes).write_bytes(ended.stdout)
        printed = (ended.stdout + ended.stderr).decode("utf-8", "replace")
        done = Done(line, ended.returncode, printed)
        failure = f": {done.message}" if ended.returncode else ""
        print(f"{time.monotonic() - began:6.1f} s  {line}{failure}", file=sys.stderr, flush=True)
        return done

    def _environment(self) -> dict[str, str]:
        own = {"PYTHONPATH": str(self.checkout), "WORDGEOM_CACHE": str(self.cache)}
        return {**os.environ, **own}


def commit(checkout: Path) -> str:
    """Return the commit of a checkout, followed by + if files have changed; "" if unknown."""
    git = ["git", "-C", str(checkout)]
    head = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    changed = subprocess.run([*git, "status", "--porcelain", "-uno"], capture_output=True)
    return head.stdout.strip() + ("+" if changed.stdout else "")
