"""Patterns of files (`*`, `?`, `[…]`, `**` for folders below) → what they match.

Our own walk, since pathlib's passes over folders that may not be read: what they hold would be left
out in silence.
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
    """Tell whether a name has a sign of a pattern."""
    return any(sign in name for sign in _MAGIC)


def matches(pattern: str) -> set[str]:
    """Return the files and folders that a pattern matches. `**` does not follow symbolic links.

    Names that begin with `.` are left out, unless a part of the pattern does. Raises OptionError
    where `**` is part of a name; MissingInputError for a folder that cannot be read.
    """
    parts = Path(pattern).parts
    fixed = next(k for k, part in enumerate(parts) if is_pattern(part))
    rest = parts[fixed:]
    if any(_ANY_DEPTH in part and part != _ANY_DEPTH for part in rest):
        found = f"{_ANY_DEPTH} beside other letters"
        raise OptionError("no pattern of files", where=pattern, found=found)
    hidden = any(part.startswith(".") for part in rest)
    return {str(path) for path in _matching(Path(*parts[:fixed]), rest, hidden)}


def entries(folder: str | Path) -> list[os.DirEntry[str]]:
    """Return what a folder holds; raises MissingInputError."""
    try:
        with os.scandir(folder) as found:
            return list(found)
    except OSError as error:
        raise _unreadable(folder, error) from error


def _matching(folder: Path, parts: tuple[str, ...], hidden: bool) -> Iterator[Path]:
    """Yield what the parts of a pattern match in a folder."""
    if not parts:
        yield folder
        return
    if not is_pattern(parts[0]):
        if _is_there(folder / parts[0]):
            yield from _matching(folder / parts[0], parts[1:], hidden)
        return
    if not os.path.isdir(folder):
        return
    inside = [e for e in entries(folder) if hidden or not e.name.startswith(".")]
    if parts[0] == _ANY_DEPTH:
        yield from _matching(folder, parts[1:], hidden)
        below, rest = [e.name for e in inside if e.is_dir(follow_symlinks=False)], parts
    else:
        wanted = re.compile(translate(parts[0])).match
        below, rest = [e.name for e in inside if wanted(e.name)], parts[1:]
    for name in below:
        yield from _matching(folder / name, rest, hidden)


def _is_there(path: Path) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unreadable(path, error) from error
    return True


def _unreadable(path: str | Path, error: OSError) -> MissingInputError:
    reason = os.strerror(error.errno or 0).lower()
    return MissingInputError(f"cannot be read: {reason}", where=path)
