"""Where faults are tried: inputs made once, a folder for each try, and the warm process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from faults.commands import COMMANDS, PREPARE, Command, write_inputs
from faults.products import Products, products

# A folder in memory, where there is one: thousands of folders are made and removed.
RAM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
UNSHARE = ("unshare", "--map-root-user", "--mount")
STALLED = 4.0  # seconds that no interrupted process may take, on a busy machine either
_TESTS = Path(__file__).parents[1]
_EARLIER = ("wordgeom: note: ", "wordgeom: warning: ")
_ONE = {
    **{f"{library}_NUM_THREADS": "1" for library in ("OPENBLAS", "OMP", "MKL")},
    # scikit-learn imports pandas, and that Arrow.
    "JE_ARROW_MALLOC_CONF": "background_thread:false",
}


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit status (negative: the signal), what it said, its steps, seconds."""

    status: int
    said: str
    steps: list[str]
    seconds: float

    @property
    def line(self) -> str:
        """The line in which it says why it failed."""
        return self.said.splitlines()[-1] if self.said else ""

    @property
    def lines(self) -> list[str]:
        """What it says besides notes and warnings, which come before the end."""
        return [line for line in self.said.splitlines() if not line.startswith(_EARLIER)]


def environment(**more: str) -> dict[str, str]:
    """Return what a program of the tests finds: the package, and threads that a fork outlives."""
    path = os.pathsep.join([str(_TESTS.parent), str(_TESTS)])
    return {**os.environ, **_ONE, "PYTHONPATH": path, **more}


class Workshop:
    """A folder with inputs, what each command makes of them, and a process to run commands in.

    disks: the process can mount disks, in a namespace of its own.
    """

    def __init__(self, folder: Path, *, disks: bool = False) -> None:
        self.folder, self.inputs = folder, folder / "inputs"
        self._folders = 0
        self._process = subprocess.Popen(
            [*(UNSHARE if disks else ()), sys.executable, "-m", "faults.forker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment(),
        )  # fmt: skip
        self._known: dict[str, tuple[Path, Products, Products]] = {}
        self.inputs.mkdir()
        write_inputs(self.inputs)
        for line in PREPARE:
            self.succeed(self.inputs, line.split())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()

    def run(
        self,
        folder: Path,
        args: Sequence[str],
        *,
        kill: int = 0,
        signal: int = 0,
        delay: float = 0.0,
        most_bytes: int = 0,
        disk: int = 0,
        here: bool = False,
    ) -> Ended:
        """Run a command; kill it before step `kill`, or send `signal` after `delay` seconds.

        most_bytes: of a file; disk: bytes of the one that the folder is on; here: in the warm
        process itself.
        """
        job = {"folder": str(folder), "args": list(args), "kill": kill, "signal": int(signal)}
        job |= {"delay": delay, "most_bytes": most_bytes, "disk": disk, "here": here}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(job) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the warm process ended during {' '.join(args)} ({job})"
        answer: dict[str, Any] = json.loads(line)
        return Ended(**answer)

    def succeed(self, folder: Path, args: Sequence[str]) -> Ended:
        """Run a command that must succeed, in the warm process: the next time it is faster."""
        ended = self.run(folder, args, here=True)
        assert ended.status == 0, f"{' '.join(args)}: {ended.status}, {ended.said}"
        return ended

    def known(self, command: Command) -> tuple[Path, Products, Products]:
        """Return a folder with the old output, that output, and the new one."""
        if command.name not in self._known:
            old, new = self._folder(), self._folder()
            if command.old:
                self.succeed(old, command.old.split())
            self.succeed(new, command.line.split())
            self._known[command.name] = (old, products(old), products(new))
        return self._known[command.name]

    def place(self, command: Command, *, old: bool) -> Path:
        """Return a new folder, with the old output or empty."""
        return self.copy(self.known(command)[0]) if old else self._folder()

    def copy(self, folder: Path) -> Path:
        """Return a copy of a folder."""
        return Path(shutil.copytree(folder, self._folder(), dirs_exist_ok=True))

    def _folder(self) -> Path:
        self._folders += 1
        folder = self.folder / f"try-{self._folders}"
        folder.mkdir()
        return folder


def disks_can_be_mounted() -> bool:
    """Tell whether the system lets us mount a disk in a namespace of our own."""
    try:
        asked = [*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"]
        return subprocess.run(asked, capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def command(name: str) -> Command:
    """Return the command of a name."""
    return next(one for one in COMMANDS if one.name == name)
