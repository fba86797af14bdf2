"""What the tables share: the command line, Markdown tables, criteria and CPU time."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from wordgeom.core.errors import WordgeomError
from wordgeom.runtime import provenance

_T = TypeVar("_T")


@dataclass(frozen=True)
class Claim:
    """A criterion and whether it is met; None: not tested, since a row is missing."""

    name: str
    met: bool | None
    why: str = ""

    def __str__(self) -> str:
        verdict = {True: "**met**", False: "**not met**", None: "not tested"}[self.met]
        return f"* {self.name}: {verdict}" + (f" ({self.why})" if self.why else "")


@dataclass(frozen=True)
class Timed:
    """CPU seconds of this process, over all its threads, and elapsed seconds."""

    cpu: float
    elapsed: float


def parser_of(description: str | None) -> argparse.ArgumentParser:
    """Return a parser whose help is a docstring as it is."""
    return argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def report(make: Callable[[argparse.Namespace], None], args: argparse.Namespace) -> None:
    """Print the tables; an error of the data or the options is one line."""
    try:
        make(args)
    except (WordgeomError, OSError) as error:
        raise SystemExit(f"error: {error}") from None


def judge(name: str, cases: Iterable[tuple[str, bool]]) -> Claim:
    """Return a criterion that holds if all its cases hold, naming the first three that do not."""
    checked = list(cases)
    failed = [case for case, holds in checked if not holds]
    if not checked:
        return Claim(name, None)
    more = f" and {len(failed) - 3} more" if len(failed) > 3 else ""
    why = f"{len(failed)} of {len(checked)} cases fail: {'; '.join(failed[:3])}{more}"
    return Claim(name, not failed, why if failed else f"{len(checked)} cases")


def timed(function: Callable[[], _T]) -> tuple[_T, Timed]:
    """Return the result of a call and its duration."""
    elapsed, cpu = time.perf_counter(), time.process_time()
    result = function()
    return result, Timed(time.process_time() - cpu, time.perf_counter() - elapsed)


def heading(script: str, threads: int) -> str:
    """Return the date, the machine and the command, with names instead of paths."""
    machine = provenance.machine()
    words = [_short(word) for word in sys.argv[1:]]
    return (
        f"{time.strftime('%F')}; {machine['processor']}, {machine['system']}, "
        f"{os.cpu_count()} cores; --threads {threads}\n\n    scripts/reproduce/{script} "
        f"{shlex.join(words)}"
    )


def _short(word: str) -> str:
    """Return a word of the command line with the name of a file instead of its path."""
    name, equals, path = word.rpartition("=")
    return f"{name}{equals}{Path(path).name or path}"


def show(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a Markdown table."""
    print(f"\n{title}\n\n| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    sys.stdout.flush()


def conclude(claims: Iterable[Claim]) -> None:
    """Print the criteria below their table."""
    print("\n" + "\n".join(map(str, claims)), flush=True)
