"""A stored matrix → another program's file, its words beside it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, BinaryIO, cast

from wordgeom._files import whole_file
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.exchange import formats
from wordgeom.exchange.glove import write_glove
from wordgeom.exchange.market import write_market
from wordgeom.exchange.scipy_files import write_sparse
from wordgeom.exchange.words import beside, write_counts
from wordgeom.matrix import StoredMatrix
from wordgeom.runs import Resources
from wordgeom.vectors import checked_words

_VOCABULARY = "vocab.txt"  # GloVe's own name for it


def words_path(path: Path, form: str) -> Path:
    """Return where the words of a matrix file lie where nothing else is said."""
    return path.with_name(_VOCABULARY) if form == formats.GLOVE else beside(path)


def export_matrix(
    matrix: StoredMatrix, out: Path, form: str, words: Path, space: str | None, using: Resources
) -> None:
    """Write a matrix and its words and counts: both or, where the disk refuses, neither.

    Raises InputError for a word with white space in GloVe's format, WriteError.
    """
    vocabulary, between = matrix.vocabulary, "\t"
    if form == formats.GLOVE:
        names = checked_words(vocabulary.words, space, words)
        vocabulary, between = Vocabulary(names, vocabulary.counts), " "
    with whole_file(out) as handle:
        if form == formats.NPZ:
            write_sparse(handle, matrix, using)
        elif form == formats.GLOVE:
            write_glove(handle, matrix)
        else:
            _write_market(handle, matrix, out, f"words: {words.name}")
        handle.flush()
        write_counts(words, vocabulary, between)


def told(matrix: StoredMatrix) -> dict[str, Any]:
    """Return what the card of an exported matrix tells, so that all of it can come back."""
    store = matrix.store
    dtype = store.array("data").dtype.str
    return {"kind": store.kind, "attributes": store.attributes, "dtype": dtype}


def _write_market(handle: BinaryIO, matrix: StoredMatrix, out: Path, comment: str) -> None:
    if out.suffix.lower() != ".gz":
        write_market(handle, matrix, comment)
        return
    with gzip.GzipFile("", "wb", fileobj=handle, mtime=0) as packed:
        write_market(cast(BinaryIO, packed), matrix, comment)
