"""Names of inputs → files: folders, patterns, files, pipes and standard input."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from wordgeom.core.errors import MissingInputError, OptionError
from wordgeom.corpus.inputs.patterns import entries, is_pattern, matches
from wordgeom.corpus.inputs.readers import STDIN

_SHOWN = 3


def files(names: Sequence[str]) -> list[str]:
    """Return the files that names stand for, in the order of the names, each once.

    A folder stands for the regular files in it and below, sorted, names that begin with `.` left
    out; a pattern (`*`, `?`, `[…]`, `**` for folders below) for what it matches, sorted. A file
    is told by where it lies, whatever it is named by. Raises MissingInputError for an empty folder,
    one that cannot be read, a pattern without a match and a broken link; OptionError where - is
    given twice.
    """
    if list(names).count(STDIN) > 1:
        raise OptionError("standard input can be read once", found="- given twice")
    return _once(names)[0]


def told(names: Sequence[str], found: Sequence[str]) -> str | None:
    """Return how many files names stood for, and which were named again; None where as named."""
    if list(names) == list(found):
        return None
    line = f"{' '.join(names)}: {_many(len(found))}"
    again = _once(names)[1]
    if not again:
        return line
    more = ", …" if len(again) > _SHOWN else ""
    shown = ", ".join(again[:_SHOWN])
    return f"{line}; named again, read once: {_many(len(again))}: {shown}{more}"


def _once(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the files that names stand for, each once, and those that were named again."""
    found: dict[str, str] = {}  # by the real path
    again: dict[str, str] = {}
    for name in names:
        for path in _several(name) or [name]:
            real = path if path == STDIN else os.path.realpath(path)
            if real in found:
                again.setdefault(real, path)
            found.setdefault(real, path)
    return list(found.values()), list(again.values())


def _many(number: int) -> str:
    return f"{number:,} file" + ("" if number == 1 else "s")


def _several(name: str) -> list[str] | None:
    """Return the files of a folder or a pattern; None for a name that stands for itself."""
    if name != STDIN and os.path.isdir(name):
        inside = sorted(_below(name, set()))
        if not inside:
            do = "files whose names begin with . are left out"
            raise MissingInputError("holds no file", where=name, do=do)
        return inside
    if name == STDIN or os.path.lexists(name) or not is_pattern(name):
        return None
    matched = {path for match in matches(name) for path in _inside(match)}
    if not matched:
        do = "check the pattern"
        raise MissingInputError("no file matches this pattern", where=name, do=do)
    return sorted(matched)


def _inside(path: str) -> Iterator[str]:
    """Yield a file itself, or what a folder that a pattern matched holds."""
    if os.path.isdir(path):
        yield from _below(path, set())
    else:
        yield path


def _below(folder: str, within: set[str]) -> Iterator[str]:
    """Yield the regular files in a folder and below; `within`: folders that were gone into."""
    real = os.path.realpath(folder)
    if real in within:  # a loop of symbolic links, or a second way to the same files
        return
    within.add(real)
    for path in sorted(e.path for e in entries(folder) if not e.name.startswith(".")):
        if os.path.isdir(path):
            yield from _below(path, within)
        elif os.path.isfile(path):
            yield path
        else:
            do = "remove it, or name the files"
            raise MissingInputError("is no regular file", where=path, do=do)
