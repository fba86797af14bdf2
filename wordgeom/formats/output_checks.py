"""What is there already where something is to be written: refused, or as it is to be."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from wordgeom.core.errors import OptionError, OutputExistsError


def refuse_existing(path: Path, force: bool) -> None:
    """Raise OutputExistsError for a path that is there, unless it is a file and to be replaced."""
    if os.path.lexists(path) and not force:
        do = "pass --force to replace it, or name another"
        raise OutputExistsError("exists", where=path, do=do)
    if path.is_dir():
        raise OutputExistsError("is a folder", where=path, do="name a file")


def check_same_request(path: Path, lines: Sequence[bytes], force: bool) -> None:
    """Raise OutputExistsError for a path that is there and does not hold these very lines.

    So that two files of the same stem can share their words.
    """
    if not _holds(path, lines):
        refuse_existing(path, force)


def refuse_one_file(words: Path, others: Mapping[Path, str]) -> None:
    """Raise OptionError where words are to be written over another file; others: what each is."""
    for path, what in others.items():
        if os.path.realpath(path) == os.path.realpath(words):
            do = "name another file"
            raise OptionError(f"--words names {what}", where=words, do=do)


def _holds(path: Path, lines: Sequence[bytes]) -> bool:
    try:
        alike = path.is_file() and path.stat().st_size == sum(map(len, lines))
        return alike and path.read_bytes() == b"".join(lines)
    except OSError:  # it cannot be read, so nobody knows
        return False
