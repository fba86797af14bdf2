"""A stored matrix → another program's file, its words beside it."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any, BinaryIO, cast

from wordgeom.core.errors import OptionError
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.formats import detection
from wordgeom.formats.glove import write_glove
from wordgeom.formats.matrix_market import write_market
from wordgeom.formats.scipy_npz import write_sparse
from wordgeom.formats.word_files import beside, count_lines
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.matrices.document_term import DOCUMENTS, Stored, StoredDocuments
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import check_words

_VOCABULARY = "vocab.txt"  # GloVe's own name for it


def words_path(path: Path, form: str) -> Path:
    """Return where the words of a matrix file are written where nothing else is said."""
    return beside(path, f".{_VOCABULARY}") if form == detection.GLOVE else beside(path)


def found_words(path: Path, form: str) -> Path:
    """Return where the words of a matrix file lie: where they are written, or in GloVe's file."""
    ours = words_path(path, form)
    theirs = path.with_name(_VOCABULARY)
    return theirs if form == detection.GLOVE and theirs.exists() and not ours.exists() else ours


def words_lines(matrix: Stored, form: str, words: Path, space: str | None) -> list[bytes]:
    """Return words and counts as a format has them.

    Raises InputError for a word with white space in GloVe's.
    """
    vocabulary = matrix.vocabulary
    if form != detection.GLOVE:
        return count_lines(vocabulary, "\t")
    names = check_words(vocabulary.words, space, words)
    return count_lines(Vocabulary(names, vocabulary.counts), " ")


def documents_lines(matrix: Stored, path: Path, form: str) -> tuple[Path, list[bytes]] | None:
    """Return where the documents of a matrix that has some are written, and their lines.

    Raises OptionError for a format that has no room for them.
    """
    if not isinstance(matrix, StoredDocuments):
        return None
    if form == detection.GLOVE:
        do = "name a .npz or .mtx file"
        raise OptionError("GloVe's records are of words and words", where=path, do=do)
    return beside(path, f".{DOCUMENTS}.tsv"), [matrix.store.text(DOCUMENTS)]


def fill_matrix(
    handle: BinaryIO, matrix: Stored, out: Path, form: str, words: Path, context: Context
) -> None:
    """Write a matrix into the open file of `out`. Raises WriteError."""
    if form == detection.NPZ:
        write_sparse(handle, matrix, context)
    elif isinstance(matrix, StoredMatrix) and form == detection.GLOVE:
        write_glove(handle, matrix)
    else:
        _write_market(handle, matrix, out, f"words: {words.name}")


def told(matrix: Stored) -> dict[str, Any]:
    """Return what the card of an exported matrix tells, so that all of it can come back."""
    store = matrix.store
    dtype = store.array("data").dtype.str
    return {"kind": store.kind, "attributes": store.attributes, "dtype": dtype}


def _write_market(handle: BinaryIO, matrix: Stored, out: Path, comment: str) -> None:
    if out.suffix.lower() != ".gz":
        write_market(handle, matrix, comment)
        return
    with gzip.GzipFile("", "wb", fileobj=handle, mtime=0) as packed:
        write_market(cast(BinaryIO, packed), matrix, comment)
