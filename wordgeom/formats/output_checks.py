"""Check output paths for existing files before anything is written."""

from __future__ import annotations

import os
from collections.abc import Mapping
from glob import escape
from pathlib import Path

from wordgeom.core.errors import OptionError, OutputExistsError
from wordgeom.formats import detection
from wordgeom.formats.word_files import companion_path

_DESCRIBED = (detection.NPY, detection.NPZ, detection.MTX)  # formats with words beside the file


def check_overwrite(path: Path, force: bool) -> None:
    """Raise OutputExistsError for a directory, and without `force` for any existing path."""
    if os.path.lexists(path) and not force:
        do = "pass --force to overwrite it, or choose another name"
        raise OutputExistsError("exists", where=path, do=do)
    if path.is_dir():
        raise OutputExistsError("is a directory", where=path, do="name a file")


def check_shared_file(path: Path, content: bytes, force: bool, target: Path) -> None:
    """Check a file beside `target`, such as its words, which another output may share.

    Raises OutputExistsError as `check_overwrite` does, unless the file has this very content, and
    for other content also with `force` if the file belongs to another output too.
    """
    if _has_content(path, content):
        return
    sharing = _sharing(path, target)
    if sharing is not None and os.path.lexists(path):
        what = f"belongs to {sharing.name} too, with other lines"
        raise OutputExistsError(what, where=path, do=f"give {target.name} another name")
    check_overwrite(path, force)


def check_words_file(words: Path, others: Mapping[Path, str]) -> None:
    """Raise OptionError if the words file is one of the `others`, given with a description."""
    for path, what in others.items():
        if os.path.realpath(path) == os.path.realpath(words):
            do = "name another file"
            raise OptionError(f"--words is the same file as {what}", where=words, do=do)


def _sharing(path: Path, target: Path) -> Path | None:
    """Return a file other than `target` that `path` describes by its name, else None."""
    stem = companion_path(target, "")
    if not path.name.startswith(f"{stem.name}.") or path.parent != target.parent:
        return None
    for other in sorted(target.parent.glob(f"{escape(stem.name)}.*")):
        alike = companion_path(other, "") == stem and other != target
        if alike and detection.format_of(other) in _DESCRIBED:
            return other
    return None


def _has_content(path: Path, content: bytes) -> bool:
    try:
        alike = path.is_file() and path.stat().st_size == len(content)
        return alike and path.read_bytes() == content
    except OSError:  # unreadable, so possibly different
        return False
