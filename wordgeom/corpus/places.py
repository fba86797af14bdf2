"""Names of inputs → files: folders, patterns, files, pipes and standard input."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from wordgeom.corpus.readers import STDIN
from wordgeom.errors import MissingInputError, OptionError

_MAGIC = "*?["


def files(names: Sequence[str]) -> list[str]:
    """Return the files that names stand for, in the order of the names.

    A folder stands for the regular files in it and below, sorted, names that begin with `.` left
    out; a pattern (`*`, `?`, `[…]`, `**` for folders below) for what it matches, sorted. A file
    that several folders and patterns hold is read once; one that is itself named twice, twice.
    Raises MissingInputError for an empty folder, a pattern without a match and a broken link;
    OptionError where - is given twice.
    """
    if list(names).count(STDIN) > 1:
        raise OptionError("standard input can be read once", found="- given twice")
    found: list[str] = []
    expanded: set[str] = set()  # real paths of files that a folder or a pattern stood for
    seen: set[str] = set()
    for name in names:
        several = _several(name)
        for path in [name] if several is None else several:
            real = path if path == STDIN else os.path.realpath(path)
            if real in (expanded if several is None else seen):
                expanded.discard(real)
                continue
            seen.add(real)
            if several is not None:
                expanded.add(real)
            found.append(path)
    return found


def told(names: Sequence[str], found: Sequence[str]) -> str | None:
    """Return how many files folders and patterns stood for; None where each name is a file."""
    many = "file" if len(found) == 1 else "files"
    return None if list(names) == list(found) else f"{' '.join(names)}: {len(found):,} {many}"


def _several(name: str) -> list[str] | None:
    """Return the files of a folder or a pattern; None for a name that stands for itself."""
    if name != STDIN and os.path.isdir(name):
        inside = sorted(_below(name, set()))
        if not inside:
            do = "files whose names begin with . are left out"
            raise MissingInputError("holds no file", where=name, do=do)
        return inside
    if name == STDIN or os.path.lexists(name) or not any(sign in name for sign in _MAGIC):
        return None
    matches = [path for match in _matches(name) for path in _inside(match)]
    if not matches:
        do = "check the pattern"
        raise MissingInputError("no file matches this pattern", where=name, do=do)
    return sorted(set(matches))


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
    try:
        with os.scandir(folder) as entries:
            inside = sorted(entry.path for entry in entries if not entry.name.startswith("."))
    except OSError as error:
        reason = os.strerror(error.errno or 0).lower()
        raise MissingInputError(f"cannot be read: {reason}", where=folder) from error
    for path in inside:
        if os.path.isdir(path):
            yield from _below(path, within)
        elif os.path.isfile(path):
            yield path
        else:
            do = "remove it, or name the files"
            raise MissingInputError("is no regular file", where=path, do=do)


def _matches(pattern: str) -> list[str]:
    """Return what a pattern matches. `**` does not follow symbolic links: loops end."""
    parts = Path(pattern).parts
    fixed = next(k for k, part in enumerate(parts) if any(sign in part for sign in _MAGIC))
    base, rest = Path(*parts[:fixed]), parts[fixed:]
    try:
        found = list(base.glob(str(Path(*rest))))
    except (ValueError, NotImplementedError) as error:
        raise OptionError("no pattern of files", where=pattern, found=str(error)) from None
    hidden = any(part.startswith(".") for part in rest)
    return [
        str(path)
        for path in found
        if hidden or not any(part.startswith(".") for part in path.relative_to(base).parts)
    ]
