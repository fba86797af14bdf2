"""The rule that no command writes onto one of its inputs, not even with `--force`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from wordgeom.core.errors import OptionError
from wordgeom.storage.files import same_file
from wordgeom.storage.meta import META, OURS
from wordgeom.storage.store import exists


def check_outputs(
    written: Iterable[str | os.PathLike[str]], read: Iterable[str | os.PathLike[str]]
) -> None:
    """Raise OptionError for an output that is an input, is part of one or contains one.

    Links and relative paths are followed. Inputs that do not exist are left to their readers.
    """
    given = [path for path in map(Path, read) if path.exists()]
    for out in map(Path, written):
        for path in given:
            if how := _overlap(out, path):
                what = f"{how}, which the output would overwrite"
                raise OptionError(what, where=out, do="choose another output")


def _overlap(out: Path, given: Path) -> str:
    """Return how an output overwrites an input, "" if it does not."""
    if same_file(out, given):
        return "is an input"
    if _is_part(out, given):
        return f"is a part of the input {given}"
    return f"contains the input {given}" if _is_part(given, out) else ""


def _is_part(path: Path, folder: Path) -> bool:
    """Return whether a path is a file of the store `folder`."""
    ours = path.name == META or OURS.fullmatch(path.name) is not None
    return ours and exists(folder) and same_file(Path(os.path.realpath(path)).parent, folder)
