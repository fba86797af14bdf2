"""The file of --save-vocab: it replaces nothing unasked, and is written with the counts."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from wordgeom.core.errors import MissingInputError, OptionError, OutputExistsError, WriteError
from wordgeom.corpus.vocabulary import Vocabulary, vocabulary_bytes
from wordgeom.storage.files import part_path, publish, staged_file


def check(path: Path, inputs: Sequence[str], *, force: bool) -> None:
    """Refuse a file that cannot be written, that is an input, or that is there without `force`.

    Raises MissingInputError, WriteError, OptionError, OutputExistsError.
    """
    do = "name another with --save-vocab"
    if not path.parent.is_dir():
        raise MissingInputError("no such folder", where=path.parent, do=f"make it, or {do}")
    if not os.access(path.parent, os.W_OK):
        raise WriteError("cannot be written: permission denied", where=path, do=do)
    if not os.path.lexists(path):
        return
    if path.is_dir() or any(os.path.exists(name) and path.samefile(name) for name in inputs):
        found = "a folder" if path.is_dir() else "an input of this count"
        raise OptionError("--save-vocab would replace it", where=path, found=found, do=do)
    if not force:
        raise OutputExistsError("exists", where=path, do=f"pass --force to replace it, or {do}")


def check_made(path: Path, vocabulary: Vocabulary) -> bool:
    """Tell whether a file is there and holds a vocabulary; raises OutputExistsError for another."""
    if not path.exists():
        return False
    if path.is_file() and path.read_bytes() == vocabulary_bytes(vocabulary):
        return True
    do = "pass --force to replace it, or name another with --save-vocab"
    raise OutputExistsError("exists and has different content", where=path, do=do)


@contextlib.contextmanager
def saved(path: Path | None, vocabulary: Vocabulary) -> Iterator[None]:
    """Write the file, which takes its name when the block ends well: both outputs or neither."""
    if path is None:
        yield
        return
    with staged_file(path) as out:
        out.write(vocabulary_bytes(vocabulary))
    try:
        yield
    except BaseException:
        part_path(path).unlink(missing_ok=True)
        raise
    publish(path)
