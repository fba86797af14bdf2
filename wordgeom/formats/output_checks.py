"""Check output paths for existing files before anything is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from wordgeom.core.errors import OptionError, OutputExistsError


def check_overwrite(path: Path, force: bool) -> None:
    """Raise OutputExistsError for a directory, and without `force` for any existing path."""
    if os.path.lexists(path) and not force:
        do = "pass --force to overwrite it, or choose another name"
        raise OutputExistsError("exists", where=path, do=do)
    if path.is_dir():
        raise OutputExistsError("is a directory", where=path, do="name a file")


def check_shared_file(path: Path, content: bytes, force: bool) -> None:
    """Raise OutputExistsError as `check_overwrite` does, unless the file has this very content.

    Two outputs with the same stem can thus share a words file.
    """
    if not _has_content(path, content):
        check_overwrite(path, force)


def check_words_file(words: Path, others: Mapping[Path, str]) -> None:
    """Raise OptionError if the words file is one of the `others`, given with a description."""
    for path, what in others.items():
        if os.path.realpath(path) == os.path.realpath(words):
            do = "name another file"
            raise OptionError(f"--words is the same file as {what}", where=words, do=do)


def _has_content(path: Path, content: bytes) -> bool:
    try:
        alike = path.is_file() and path.stat().st_size == len(content)
        return alike and path.read_bytes() == content
    except OSError:  # unreadable, so possibly different
        return False
