"""File patterns (`*`, `?`, `[…]`, `**` for subdirectories) → their matches.

`pathlib` silently skips directories that it may not read; this walk raises an error for them.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from fnmatch import translate
from pathlib import Path

from wordgeom.core.errors import MissingInputError, OptionError

_MAGIC = "*?["
_ANY_DEPTH = "**"


def is_pattern(name: str) -> bool:
    """Return whether a name contains a wildcard."""
    return any(sign in name for sign in _MAGIC)


def matches(pattern: str) -> set[str]:
    """Return the files and directories that match. `**` does not follow symbolic links.

    Names that begin with `.` match only if some part of the pattern begins with `.` too. Raises
    OptionError if `**` is only part of a name; MissingInputError for an unreadable directory.
    """
    parts = Path(pattern).parts
    fixed = next(k for k, part in enumerate(parts) if is_pattern(part))
    rest = parts[fixed:]
    if any(_ANY_DEPTH in part and part != _ANY_DEPTH for part in rest):
        do = f"write {_ANY_DEPTH} alone between two /"
        raise OptionError("not a valid pattern", where=pattern, do=do)
    hidden = any(part.startswith(".") for part in rest)
    return {str(path) for path in _matching(Path(*parts[:fixed]), rest, hidden)}


def entries(directory: str | Path) -> list[os.DirEntry[str]]:
    """Return the entries of a directory; raises MissingInputError."""
    try:
        with os.scandir(directory) as found:
            return list(found)
    except OSError as error:
        raise unreadable(directory, error) from error


def unreadable(path: str | Path, error: OSError) -> MissingInputError:
    """Return the error for a file or directory that the system does not let us read."""
    reason = os.strerror(error.errno or 0).lower()
    do = "check its permissions" if isinstance(error, PermissionError) else ""
    return MissingInputError(f"cannot be read: {reason}", where=path, do=do)


def _matching(directory: Path, parts: tuple[str, ...], hidden: bool) -> Iterator[Path]:
    """Yield the paths in a directory that match the parts of a pattern."""
    if not parts:
        yield directory
        return
    if not is_pattern(parts[0]):
        if _exists(directory / parts[0]):
            yield from _matching(directory / parts[0], parts[1:], hidden)
        return
    if not os.path.isdir(directory):
        return
    inside = [e for e in entries(directory) if hidden or not e.name.startswith(".")]
    if parts[0] == _ANY_DEPTH:
        yield from _matching(directory, parts[1:], hidden)
        below, rest = [e.name for e in inside if e.is_dir(follow_symlinks=False)], parts
    else:
        wanted = re.compile(translate(parts[0])).match
        below, rest = [e.name for e in inside if wanted(e.name)], parts[1:]
    for name in below:
        yield from _matching(directory / name, rest, hidden)


def _exists(path: Path) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise unreadable(path, error) from error
    return True
