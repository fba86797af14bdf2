"""Names of inputs → files: directories, patterns, files, pipes and standard input."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from wordgeom.core.errors import MissingInputError, OptionError
from wordgeom.core.formatting import plural
from wordgeom.corpus.inputs.patterns import entries, is_pattern, matches
from wordgeom.corpus.inputs.readers import STDIN
from wordgeom.storage.opening import not_there

_SHOWN = 3


def expand(names: Sequence[str]) -> list[str]:
    """Return the files that the names stand for, in the order of the names, each file once.

    A directory stands for the regular files in it and in its subdirectories, sorted, except names
    that begin with `.`. A pattern (`*`, `?`, `[…]`, `**` for subdirectories) stands for its
    matches, sorted. Two names of one file are recognised by their real path.
    Raises MissingInputError for a directory that is empty or unreadable, a pattern without a match
    and a broken link; OptionError if `-` is given twice.
    """
    if list(names).count(STDIN) > 1:
        raise OptionError("- is given twice", do="standard input can be read only once")
    return _unique(names)[0]


def expansion_note(names: Sequence[str], found: Sequence[str]) -> str | None:
    """Return a note on the files that names expanded to; None if each name is its own file."""
    if list(names) == list(found):
        return None
    line = f"{' '.join(names)}: {plural(len(found), 'file')}"
    repeated = _unique(names)[1]
    if not repeated:
        return line
    more = ", …" if len(repeated) > _SHOWN else ""
    shown = ", ".join(repeated[:_SHOWN])
    return f"{line}; repeated names read once: {plural(len(repeated), 'file')}: {shown}{more}"


def _unique(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return each file once, and the files that were named more than once."""
    found: dict[str, str] = {}  # by real path
    repeated: dict[str, str] = {}
    for name in names:
        for path in _expanded(name) or [name]:
            real = path if path == STDIN else os.path.realpath(path)
            if real in found:
                repeated.setdefault(real, path)
            found.setdefault(real, path)
    return list(found.values()), list(repeated.values())


def _expanded(name: str) -> list[str] | None:
    """Return the files of a directory or a pattern; None for the name of a file."""
    if name != STDIN and os.path.isdir(name):
        inside = sorted(_below(name, set()))
        if not inside:
            do = "files whose names begin with . are not read"
            raise MissingInputError("the directory contains no files", where=name, do=do)
        return inside
    if name == STDIN or os.path.lexists(name) or not is_pattern(name):
        return None
    matched = {path for match in matches(name) for path in _inside(match)}
    if not matched:
        do = "check the pattern"
        raise MissingInputError("no file matches this pattern", where=name, do=do)
    return sorted(matched)


def _inside(path: str) -> Iterator[str]:
    """Yield a file itself, or the files in a directory that a pattern matched."""
    if os.path.isdir(path):
        yield from _below(path, set())
    else:
        yield path


def _below(directory: str, visited: set[str]) -> Iterator[str]:
    """Yield the regular files in a directory and its subdirectories, except the `visited`."""
    real = os.path.realpath(directory)
    if real in visited:  # a loop of symbolic links, or a second way to the same files
        return
    visited.add(real)
    for path in sorted(e.path for e in entries(directory) if not e.name.startswith(".")):
        if os.path.isdir(path):
            yield from _below(path, visited)
        elif os.path.isfile(path):
            yield path
        elif not os.path.exists(path):
            raise not_there(path, "run the command again")
        else:
            do = "remove it, or name the files"
            raise MissingInputError("not a regular file", where=path, do=do)
