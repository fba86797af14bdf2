"""The command lines that scripts/same_bytes runs, read from same_bytes_commands.txt."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

# A second run of these answers that the output is up to date; most of them can also resume.
_RESUMABLE = frozenset({"build-cooc", "build-dtm", "build-pmi", "merge", "train", "run"})
_MAKERS = _RESUMABLE | {"extend", "impute"}


@dataclass(frozen=True)
class Line:
    """A command line, the directory in which it runs, and files for standard input and output."""

    words: tuple[str, ...]
    place: str = "."
    reads: str | None = None
    writes: str | None = None

    @classmethod
    def parse(cls, text: str) -> Line:
        """Return the line that a text stands for."""
        text, _, writes = text.partition(" > ")
        text, _, reads = text.partition(" < ")
        return cls(tuple(shlex.split(text)), reads=reads or None, writes=writes or None)

    @property
    def makes(self) -> bool:
        """Whether a second run answers that the output is up to date."""
        return self.words[0] in _MAKERS and self.reads is None

    def resumed(self) -> Line:
        """Return the line with --resume, if its command has that option."""
        extra = ("--resume",) if self.words[0] in _RESUMABLE else ()
        return Line((*self.words, *extra), self.place, self.reads, self.writes)

    def __str__(self) -> str:
        """The line as a user types it."""
        inside = "" if self.place == "." else f" (in {self.place})"
        return shlex.join(self.words) + inside


def _phases(lines: Iterable[str]) -> tuple[tuple[Line, ...], ...]:
    phases: list[list[Line]] = []
    for line in lines:
        if line.startswith("["):
            phases.append([])
        elif line and not line.startswith("#"):
            phases[-1].append(Line.parse(line))
    return tuple(map(tuple, phases))


PHASES = _phases(Path(__file__).with_suffix(".txt").read_text(encoding="utf-8").splitlines())
