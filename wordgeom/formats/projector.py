"""TensorBoard's embedding projector: a directory with vectors.tsv and metadata.tsv.

vectors.tsv has a tab-separated row of numbers per word, metadata.tsv a word per line. Neither has
a header line. The run card is that of vectors.tsv, in the same directory.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

from wordgeom.core.errors import OutputExistsError
from wordgeom.core.types import Float32
from wordgeom.storage.files import WatchedFile, make_folder, remove_folder, replace, write_error
from wordgeom.vectors import run_card
from wordgeom.vectors.word2vec_text import formatted

FILES = ("vectors.tsv", "metadata.tsv")


def is_projector(path: Path) -> bool:
    """Return whether a path is a directory with vectors.tsv."""
    return os.path.isfile(path / FILES[0])  # False in an unreadable directory


def write_projector(
    directory: Path, words: Sequence[str], matrix: Float32, card: Mapping[str, Any] | None = None
) -> None:
    """Write both files into a new directory, then rename it over an existing projector directory.

    card: the run card to write with them. Raises OutputExistsError for a directory with other
    files, WriteError.
    """
    check_projector_directory(directory)
    try:
        _write_directory(directory, words, matrix, card)
    except OSError as error:  # its path is a temporary file: name the user's path instead
        raise write_error(directory, error) from error


def _write_directory(
    directory: Path, words: Sequence[str], matrix: Float32, card: Mapping[str, Any] | None
) -> None:
    made = directory.with_name(f".{directory.name}.{os.getpid()}.part")
    old = directory.with_name(f".{directory.name}.{os.getpid()}.old")
    make_folder(made)
    try:
        with _new_file(made / FILES[0]) as out:
            for lines in formatted([""] * len(matrix), matrix):
                rows = lines.tobytes().replace(b" ", b"\t")
                out.write(rows[1:].replace(b"\n\t", b"\n"))
        with _new_file(made / FILES[1]) as out:
            out.writelines(f"{word}\n".encode() for word in words)
        if card is not None:
            beside = {FILES[1]: run_card.file_content(made / FILES[1])}
            run_card.add_card(made / FILES[0], {**card, "beside": beside})
        if directory.exists():  # a directory cannot be replaced in one step
            replace(directory, old)
        replace(made, directory)
    finally:
        if old.exists() and not directory.exists():
            replace(old, directory)
        for left in (made, old):
            if left.exists():
                remove_folder(left)


def check_projector_directory(directory: Path) -> None:
    """Raise OutputExistsError unless the path is free or a directory of only these files."""
    known = (*FILES, run_card.card_path(Path(FILES[0])).name)
    if not directory.exists():
        return
    others = (
        [p.name for p in directory.iterdir() if p.name not in known] if directory.is_dir() else []
    )
    if others or not directory.is_dir():
        how = f"contains {others[0]}" if others else "is a file"
        what = f"{how}, so it is not a projector directory"
        raise OutputExistsError(what, where=directory, do="choose another name")


@contextmanager
def _new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file, and sync it to disk at the end."""
    with WatchedFile(path, "x") as raw, io.BufferedWriter(raw) as out:
        yield cast(BinaryIO, out)
        out.flush()
        raw.sync()
