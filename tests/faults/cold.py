"""Processes of their own, as a user starts them: a longer count, and a system that is read-only."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

from faults.products import products
from faults.workshop import STALLED, UNSHARE, Workshop, command, environment
from wordgeom.storage.meta import META
from wordgeom.storage.store import Store

_PROGRAM = [sys.executable, "-m", "wordgeom"]
_STOPPED = 75
# Python was interrupted as it started, before any of our code.
_STARTING = ("Could not import runpy module", "Fatal Python error: init_")
# The program was interrupted while it imported what says which commands have --resume: status 130.
_NAMELESS = "wordgeom: interrupted; existing output is unchanged\n"
_HUNG = 120  # seconds after which a process is ended
# All that stands on the root's disk becomes read-only, but the folder that is named first.
_READ_ONLY = """
set -e
mount --bind "$1" "$1"
mount -o remount,bind,ro /
cd "$1"
shift
exec "$@"
"""
_COUNT = "build-cooc ../inputs/corpus.txt -o out --min-count 1 --window 3 --tmp-dir ."


class LongCount:
    """A count that takes seconds, in `folder`; run it, and interrupt it.

    lines: how long the text is; window: counting takes long where it is wide, reading where it is
    not.
    """

    def __init__(self, folder: Path, lines: int, window: int) -> None:
        self._folder, self._lock, self._tries = folder, threading.Lock(), 0
        self._window = str(window)
        folder.mkdir()
        words = np.random.default_rng(2).zipf(1.2, 400_000) % 30_000
        line = " ".join(f"w{k}" for k in words.tolist())
        (folder / "text.txt").write_text(f"{line}\n" * lines)
        for out in ("first", "whole"):  # the first may compile
            began = time.monotonic()
            done = subprocess.run(
                self._command(out),
                capture_output=True,
                text=True,
                env=environment(),
                check=False,
                timeout=_HUNG,
            )
            assert done.returncode == 0, done.stderr
            self.seconds = time.monotonic() - began
        self._digest = Store.open(folder / "whole").digest

    def _command(self, out: str, *more: str) -> list[str]:
        text = str(self._folder / "text.txt")
        return [*_PROGRAM, "build-cooc", text, "-o", str(self._folder / out), "--min-count", "1",
                "--window", self._window, "--checkpoint", "0.002", *more]  # fmt: skip

    def interrupt(self, number: int, delay: float) -> float:
        """Send a count a signal, assert what must hold, go on; return its seconds to the end."""
        with self._lock:
            self._tries += 1
            out = f"try-{self._tries}"
        seconds, status, said = self._stopped(out, number, delay)
        whole = (self._folder / out / META).exists()
        early = (-number, 0) if whole or not (self._folder / out).exists() else ()
        if said.startswith(_STARTING):
            early = (*early, 1)
        if said == _NAMELESS:
            early = (*early, 130)
        allowed = -signal.SIGKILL if number == signal.SIGKILL else _STOPPED
        assert status in (allowed, *early), (number, status, said)
        # A second is promised; a machine that others use may stand still for longer. The long form
        # holds the median to the second.
        assert seconds < STALLED, f"took {seconds:.2f} s to end {said}"
        done = subprocess.run(
            self._command(out, "--resume"), capture_output=True, text=True, env=environment(),
            check=False, timeout=_HUNG,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert Store.open(self._folder / out).digest == self._digest
        assert not (self._folder / f".{out}.state").exists()
        return seconds

    def _stopped(self, out: str, number: int, delay: float) -> tuple[float, int, str]:
        """Return the seconds from a signal to the end, the exit status and what was said."""
        with subprocess.Popen(
            self._command(out), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            env=environment(PYTHONFAULTHANDLER="1"), start_new_session=True,
        ) as process:  # fmt: skip
            time.sleep(delay)
            process.send_signal(number)
            began = time.monotonic()
            try:
                _, said = process.communicate(timeout=_HUNG)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGABRT)  # says where each thread stands
                _, said = process.communicate()
            return time.monotonic() - began, process.returncode, said


def read_only(shop: Workshop) -> None:
    """Count where neither the package nor the home nor the system can be written to."""
    with tempfile.TemporaryDirectory(dir=shop.folder) as name:
        done = subprocess.run(
            [*UNSHARE, "sh", "-c", _READ_ONLY, "sh", name, *_PROGRAM, *_COUNT.split()],
            capture_output=True, text=True, check=False, env=environment(WORDGEOM_CACHE=""),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert "no kernel cache" in done.stderr
        made = products(Path(name))
    assert made == shop.known(command("build-cooc"))[2]
