"""What a reader must not do: unpickle, look at other files, start programs, take memory."""

from __future__ import annotations

import os
import pickle
import resource
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

MEMORY = 2 << 30  # bytes of address space: the program itself, its libraries and the reader
_FORBIDDEN = (
    "os.system", "os.exec", "os.posix_spawn", "subprocess.Popen", "socket.connect",
    "pickle.find_class", "ctypes.dlopen",
)  # fmt: skip


class Guard:
    """Watches a process that reads in `folder`; what is loaded before needs no leave."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self._folder, self._seconds, self._watching = str(folder), seconds, False
        self._code = (*filter(None, sys.path), sys.base_prefix)
        self._scratch = tempfile.gettempdir()
        self._trespasses: list[str] = []
        sys.addaudithook(self._hear)
        for name in ("load", "loads", "Unpickler"):
            setattr(pickle, name, self._watched(getattr(pickle, name)))

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Note trespasses while the block runs; it ends, and the process, after some seconds."""
        self._watching = True
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            self._watching = False

    def taken(self) -> list[str]:
        """Return the trespasses since the last time, each kind once."""
        found, self._trespasses = dict.fromkeys(self._trespasses), []
        return list(found)

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if not self._watching:
            return
        if event in _FORBIDDEN:
            self._note(f"{event} {args!r:.200}")
        elif event == "open" and isinstance(args[0], str | bytes):
            self._opened(os.fsdecode(args[0]), args[2])

    def _opened(self, path: str, how: int) -> None:
        path = os.path.abspath(path)
        if path.startswith(self._folder) or path == self._scratch:  # the latter: nameless files
            return
        if path.startswith(("/proc/", "/sys/")) or path == os.devnull:
            return
        writes = how & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writes or not path.startswith(self._code):
            self._note(f"opened {path}")

    def _watched(self, function: Any) -> Any:
        def called(*args: Any, **kwargs: Any) -> Any:
            if self._watching:
                self._note("unpickled")
            return function(*args, **kwargs)

        return called

    def _note(self, what: str) -> None:
        # Numba may load a kernel of ours from its cache, or compile it, when it is first needed.
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_globals.get("__name__", "").startswith("numba."):
                return
            frame = frame.f_back
        self._trespasses.append(what)


def confine(alone: bool) -> None:
    """Let the process take MEMORY in all, or beside what it holds where it serves many readers."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    most = MEMORY if alone else held + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
