"""The file of --save-vocab: checked before counting, and renamed together with the counts."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from wordgeom.core.errors import MissingInputError, OptionError, OutputExistsError, WriteError
from wordgeom.corpus.vocabulary import Vocabulary, vocabulary_bytes
from wordgeom.storage.files import part_path, publish, staged_file, write_errors
from wordgeom.storage.opening import reading


def check(path: Path, *, force: bool) -> None:
    """Check that the file can be written, and does not exist unless `force`.

    Raises MissingInputError, WriteError, OptionError, OutputExistsError.
    """
    do = "choose another file with --save-vocab"
    if not path.parent.is_dir():
        raise MissingInputError("no such directory", where=path.parent, do=f"create it, or {do}")
    if not os.access(path.parent, os.W_OK):
        raise WriteError("cannot be written: permission denied", where=path, do=do)
    if not os.path.lexists(path):
        return
    if path.is_dir():
        raise OptionError("is a directory, which --save-vocab would replace", where=path, do=do)
    if not force:
        raise OutputExistsError("exists", where=path, do=f"pass --force to overwrite it, or {do}")


def check_made(path: Path, vocabulary: Vocabulary) -> bool:
    """Return whether the file exists; raises OutputExistsError where its content differs."""
    if not path.exists():
        return False
    with reading(path, "another file to --save-vocab"):
        if path.is_file() and path.read_bytes() == vocabulary_bytes(vocabulary):
            return True
    do = "pass --force to overwrite it, or choose another file with --save-vocab"
    raise OutputExistsError("exists and has different content", where=path, do=do)


@contextlib.contextmanager
def saved(path: Path | None, vocabulary: Vocabulary) -> Iterator[None]:
    """Stage the file and rename it when the block, which writes the counts, succeeds."""
    if path is None:
        yield
        return
    with staged_file(path) as out:
        out.write(vocabulary_bytes(vocabulary))
    try:
        yield
        with write_errors(path):
            publish(path)
    except BaseException:
        part_path(path).unlink(missing_ok=True)
        raise
