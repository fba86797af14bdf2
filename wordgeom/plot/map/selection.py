"""Which words a map draws: the first ones of the file, chosen ones, and imputed entities first."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError, MissingInputError
from wordgeom.core.formatting import first_few, several
from wordgeom.core.types import Int64
from wordgeom.formats.word_files import read_word_list
from wordgeom.plot.map.options import FEWEST, MapOptions
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.nearest import spelling_advice


def chosen_rows(vectors: Vectors, words: str, path: Path) -> tuple[Int64, list[str]]:
    """Return the rows of the words that --words names, in its order, and notes.

    words: a file, or words separated by commas. Words of a file that have no vector are noted.
    Raises what `read_word_list` raises; InputError for a listed word without a vector.
    """
    from_file = _is_file(words)
    names = read_word_list(Path(words))[0] if from_file else [w.strip() for w in words.split(",")]
    names = [name for name in names if name]
    found = [vectors.row(name) for name in names]
    missing = [name for name, row in zip(names, found, strict=True) if row is None]
    notes = []
    if missing:
        what = f"{len(missing):,} of {several(len(names), 'word', 'words')} of --words"
        what += f" {'is' if len(missing) == 1 else 'are'} not in {path}: {first_few(missing)}"
        if not from_file:
            raise InputError(what, do=spelling_advice(missing[0], vectors.words[:50_000]))
        notes.append(what)
    return np.array(list(dict.fromkeys(row for row in found if row is not None)), np.int64), notes


def _is_file(words: str) -> bool:
    """Return whether --words names a file; raises MissingInputError for one that is missing."""
    if os.path.exists(words):  # a long list is no file name
        return True
    if "," not in words and ("/" in words or Path(words).suffix in (".txt", ".tsv", ".csv")):
        raise MissingInputError("no such file", where=words, do="check --words")
    return False


def drawn_rows(
    vectors: Vectors, options: MapOptions, most: int, first: Sequence[str], path: Path
) -> tuple[Int64, int, list[str]]:
    """Return the rows to draw, how many of them, at the start, are chosen, and notes.

    most: words without --top; first: words that precede the others of the file. Raises InputError
    for fewer than three words.
    """
    chosen: Int64 = np.empty(0, np.int64)
    notes: list[str] = []
    if options.words is not None:
        chosen, notes = chosen_rows(vectors, options.words, path)
    rows = chosen
    if options.words is None or options.top is not None:
        ahead = [row for row in map(vectors.row, first) if row is not None]
        order = np.array(list(dict.fromkeys([*ahead, *range(len(vectors.words))])), np.int64)
        rows = np.array(list(dict.fromkeys([*chosen, *order[: options.top or most]])), np.int64)
    if len(rows) < FEWEST:
        notes = [f"{note}; " for note in notes]
        what = f"{''.join(notes)}a map needs {FEWEST} words or more"
        raise InputError(what, where=path, found=len(rows), do="name more, or add --top N")
    return rows, len(chosen), notes
