"""The command that made an output, as its run card records it for `rerun`."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from wordgeom.core.errors import WordgeomError
from wordgeom.core.options import specs
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.storage import store
from wordgeom.storage.meta import META
from wordgeom.vectors import run_card

KEY = "invocation"
# Options that no content depends on: threads, memory, checkpoints.
RESOURCES = frozenset(
    field.name for cls in (RunOptions, ResumeOptions) for field, spec in specs(cls)
    if not spec.result
)  # fmt: skip


@dataclass(frozen=True)
class Invocation:
    """A command and the settings that decide its output."""

    command: str
    settings: dict[str, Any]

    @classmethod
    def of(cls, command: str, settings: Mapping[str, Any]) -> Self:
        """Return the invocation of a command, without threads, memory and the like."""
        deciding = {name: value for name, value in settings.items() if name not in RESOURCES}
        return cls(command, deciding)

    def record(
        self, inputs: Iterable[str | os.PathLike[str]]
    ) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
        """Return the function from a request to the entry of its run card.

        inputs: the files and stores that are read. The digests of texts are those of the request,
        because counting takes them as it reads.
        """
        return _Record(self, [os.fspath(path) for path in inputs])


class _Record:
    """The entry of the run cards of one run."""

    def __init__(self, made_by: Invocation, inputs: list[str]) -> None:
        self._made_by, self._folder = made_by, os.getcwd()
        self._stamps = {path: _stamp(path) for path in inputs}
        self._digests: dict[str, str] = {}

    def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        named = {i.get("name"): i.get("digest") for i in request["inputs"]}
        for path, stamp in self._stamps.items():
            # A file that changed during the run has no digest that would fit the output.
            if path not in self._digests and _stamp(path) == stamp:
                digest = named.get(os.path.abspath(path)) or input_digest(path)
                self._digests |= {} if digest is None else {path: digest}
        entry = {"command": self._made_by.command, "settings": self._made_by.settings}
        return {KEY: {**entry, "folder": self._folder, "inputs": dict(self._digests)}}


def input_digest(path: str | os.PathLike[str]) -> str | None:
    """Return the digest of a store or the SHA-256 of a file, None where neither can be read."""
    with contextlib.suppress(WordgeomError, OSError):
        if store.exists(path):
            return store.Store.open(path).digest
        if os.path.isfile(path):  # a pipe cannot be read again
            return str(run_card.file_content(Path(path))["sha256"])
    return None


def _stamp(path: str) -> tuple[int, int] | None:
    """Return size and time of a file, or of the commit point of a store; None if unreadable."""
    with contextlib.suppress(OSError):
        status = os.stat(os.path.join(path, META) if store.exists(path) else path)
        return status.st_size, status.st_mtime_ns
    return None
