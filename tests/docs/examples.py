"""The fenced blocks of a page as steps that can be run, and what runs them.

console: commands behind `$ `, their output below; bash: a script; python: statements, all blocks of
a page in one namespace; toml with a title: a file of that name. A comment before a block,
`<!-- not run: REASON -->`, leaves it out. A command fails as it should where `$ echo $?` behind it
prints another status than 0.
"""

from __future__ import annotations

import contextlib
import io
import re
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wordgeom.cli import main

_FENCE = re.compile(r"^```(?P<kind>\w*)(?P<info>[^\n]*)\n(?P<text>.*?)^```$", re.M | re.S)
_SKIP = re.compile(r"<!-- not run: (.+?) -->\s*\Z", re.S)
_TITLE = re.compile(r'title="([^"]+)"')
_REDIRECT = re.compile(r"\s>\s*(\S+)$")
_STATUS = "echo $?"
_PROMPT, _MORE = "$ ", "> "
RUN = ("console", "bash", "python", "toml")


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it stands for, its text, and why it is not run."""

    line: int
    kind: str
    title: str
    text: str
    skipped: str


def blocks(page: Path) -> Iterator[Block]:
    """Yield the fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        title, skip = _TITLE.search(found["info"]), _SKIP.search(text[: found.start()])
        yield Block(
            text.count("\n", 0, found.start()) + 1,
            found["kind"],
            title[1] if title else "",
            found["text"],
            skip[1] if skip else "",
        )


@dataclass(frozen=True)
class Command:
    """A command line of a console block, and the exit status that the page shows for it."""

    line: str
    status: int


def commands(text: str) -> Iterator[Command]:
    """Yield the commands of a console block."""
    lines = _joined(text)
    for k, line in enumerate(lines):
        if not line.startswith(_PROMPT) or line == _PROMPT + _STATUS:
            continue
        behind = [n for n, other in enumerate(lines) if n > k and other.startswith(_PROMPT)]
        shown = behind and lines[behind[0]] == _PROMPT + _STATUS
        yield Command(line.removeprefix(_PROMPT), int(lines[behind[0] + 1]) if shown else 0)


def _joined(text: str) -> list[str]:
    """Return the lines of a console block, those that a backslash breaks in one."""
    return text.replace(f"\\\n{_MORE}", " ").splitlines()


class Session:
    """Runs blocks in a directory, which is the working directory, one after the other.

    shim: the directory of a program `wordgeom`, for what a shell runs itself.
    """

    def __init__(self, shim: Path, environment: dict[str, str]) -> None:
        self._names: dict[str, Any] = {"__name__": "__main__"}
        self._shim, self._environment = shim, environment

    def run(self, block: Block) -> None:
        """Run a block; raises AssertionError for a command that ends otherwise than shown."""
        runners: dict[str, Callable[[Block], None]] = {
            "console": self._console,
            "bash": lambda block: self._shell(Command(block.text, 0)),
            "python": self._python,
            "toml": self._file,
        }
        runners[block.kind](block)

    def _console(self, block: Block) -> None:
        for command in commands(block.text):
            if re.fullmatch(r"wordgeom [^|;&]*", command.line):
                self._program(command)
            else:
                self._shell(command)

    def _program(self, command: Command) -> None:
        """Run wordgeom in this process, which saves the start of another."""
        line, _, target = _REDIRECT.sub(r"\0\1", command.line).partition("\0")
        output, messages = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(messages):
            status = main(self._words(line)[1:])
        assert status == command.status, f"{command.line}: {status}\n{messages.getvalue()}"
        if target:
            Path(target).write_text(output.getvalue(), encoding="utf-8")

    def _words(self, line: str) -> list[str]:
        """Return the words of a command line, as a shell splits and expands it."""
        done = subprocess.run(
            ["bash", "-c", f"printf '%s\\0' {line}"], capture_output=True, text=True, check=True
        )
        return done.stdout.split("\0")[:-1]

    def _shell(self, command: Command) -> None:
        path = f"{self._shim}:{self._environment['PATH']}"
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command.line], capture_output=True, text=True,
            check=False, env={**self._environment, "PATH": path},
        )  # fmt: skip
        assert done.returncode == command.status, f"{command.line}: {done.stderr}"

    def _python(self, block: Block) -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(block.text, f"line {block.line}", "exec"), self._names)

    def _file(self, block: Block) -> None:
        if block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
