"""A warm process that runs command lines in forks of itself, and ends them where it is told to.

A fork costs milliseconds where a new process would import and load kernels for a second. Jobs come
as lines of JSON on standard input, answers go as lines of JSON to standard output. A command that
does not end within two minutes says where it stands and ends.
"""

from __future__ import annotations

import contextlib
import faulthandler
import fcntl
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self, TextIO

from wordgeom.cli import main as wordgeom
from wordgeom.storage import files

Job = dict[str, Any]
# Blocks so small that a little text has many: every path that large runs take is walked.
_SMALL = {
    "wordgeom.counts.cooccurrence": {
        "_BLOCK_WORK": 4000, "_LARGEST_CHUNK": 1000, "_SMALLEST_CHUNK": 1000,
    },
    "wordgeom.counts.documents": {"BLOCK": 300},
    "wordgeom.core.row_blocks": {"BLOCK_ENTRIES": 400},
    "wordgeom.corpus.encoding.memory_limits": {"_IDS_SHARE": 10**9},
    "wordgeom.corpus.inputs.readers": {"BLOCK": 5000},
    "wordgeom.checkpoint.corpus_writer": {"WORTH": 0},
    "wordgeom.linalg.eigensolver": {"_DENSE": 0},
    "wordgeom.stages.reducers": {"_UPDATES": 4},
}  # fmt: skip
_ROOM = 1 << 20  # bytes that a child may tell
_PAGE = 4096
_BUG = 70  # the exit status of a command that raised
_HUNG = 120  # seconds after which a command is ended
_LINGER = 20  # seconds that the threads of a command that ended may take to end


def main() -> None:
    """Answer jobs until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    answers = os.fdopen(os.dup(1), "w")
    for module, values in _SMALL.items():
        for constant, value in values.items():
            vars(importlib.import_module(module))[constant] = value
    for line in sys.stdin:
        signal.alarm(2 * _HUNG)  # ends this process if a command hangs before or after its limit
        print(json.dumps(_answer(json.loads(line))), file=answers, flush=True)
        signal.alarm(0)


def _answer(job: Job) -> Job:
    with _on_disk(job["folder"], job["disk"]), _Pipe() as said, _Pipe() as steps:
        began = time.monotonic()
        if job["here"]:  # so that the forks to come find all of it loaded
            status = _program(job, said, steps)
        else:
            _await_one_thread()
            child = os.fork()
            if child == 0:
                _be_the_program(job, said, steps)
            if job["signal"]:
                time.sleep(job["delay"])
                began = time.monotonic()
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child, job["signal"])
            status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        answer = {"status": status, "seconds": time.monotonic() - began}
        return {**answer, "said": said.text(), "steps": steps.text().splitlines()}


def _await_one_thread() -> None:
    """Wait until the threads of earlier commands are gone: a fork keeps locks that they hold.

    A thread that was joined still runs its libraries' destructors. MKL's took the lock of its
    allocator there, and a fork waited for it for ever.
    """
    tasks, latest = Path("/proc/self/task"), time.monotonic() + _LINGER
    while len(os.listdir(tasks)) > 1:
        if time.monotonic() > latest:
            names = sorted(path.read_text().strip() for path in tasks.glob("*/comm"))
            raise RuntimeError(f"threads that an earlier command left: {', '.join(names)}")
        time.sleep(0.001)


class _Pipe:
    """Room for what a child tells, which no limit on files touches."""

    def __enter__(self) -> Self:
        self._end, self.into = os.pipe()
        fcntl.fcntl(self.into, fcntl.F_SETPIPE_SZ, _ROOM)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._end)
        os.close(self.into)

    def text(self) -> str:
        """Return what was told so far."""
        os.set_blocking(self._end, False)
        try:
            return os.read(self._end, _ROOM).decode(errors="replace")
        except BlockingIOError:  # nothing was
            return ""


@contextlib.contextmanager
def _on_disk(folder: str, size: int) -> Iterator[None]:
    """Put a disk in place of a folder, with what it holds and `size` bytes of room; none if 0.

    What is on it at the end is left in its place. Only in a namespace of our own.
    """
    if not size:
        yield
        return
    disk = f"{folder}.disk"
    os.mkdir(disk)
    whole = size + sum(_pages(path) for path in Path(folder).rglob("*"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={whole}", "none", disk], check=True)
    try:
        shutil.copytree(folder, disk, dirs_exist_ok=True)
        os.rename(folder, f"{folder}.before")
        os.symlink(disk, folder)
        yield
        os.remove(folder)
        shutil.copytree(disk, folder)
    finally:
        os.chdir("/")
        subprocess.run(["umount", disk], check=True)


def _pages(path: Path) -> int:
    """Return the bytes that a file takes on such a disk."""
    return -(-path.stat().st_size // _PAGE) * _PAGE if path.is_file() else 0


def _be_the_program(job: Job, said: _Pipe, steps: _Pipe) -> None:
    """Run a command line as a process of its own; never returns."""
    os.setsid()
    if job["most_bytes"]:
        resource.setrlimit(resource.RLIMIT_FSIZE, (job["most_bytes"], job["most_bytes"]))
    os._exit(_program(job, said, steps))


def _program(job: Job, said: _Pipe, steps: _Pipe) -> int:
    """Run a command line with what it says and does noted; return its exit status."""
    os.chdir(job["folder"])
    for stream in (1, 2):
        os.dup2(said.into, stream)
    _watch(job["kill"], steps)
    faulthandler.dump_traceback_later(_HUNG, exit=True, file=said.into)
    try:
        return wordgeom(job["args"])
    except BaseException:  # a finding, told as Python would tell it
        sys.excepthook(*sys.exc_info())
        return _BUG
    finally:
        faulthandler.cancel_dump_traceback_later()
        _flush(sys.stdout, sys.stderr)


def _flush(*streams: TextIO) -> None:
    for stream in streams:
        with contextlib.suppress(OSError):
            stream.flush()


def _watch(kill: int, steps: _Pipe) -> None:
    """Note each step that changes the disk, and die before the one numbered `kill`, from 1."""
    done = 0

    def boundary(step: str, path: Path) -> None:
        nonlocal done
        done += 1
        os.write(steps.into, f"{step} {path}\n".encode())
        if done == kill:
            os.kill(os.getpid(), signal.SIGKILL)

    files.boundary = boundary


if __name__ == "__main__":
    main()
