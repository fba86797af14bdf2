"""Export a stored matrix to another program's format, with its words in a separate file."""

from __future__ import annotations

import gzip
from contextlib import nullcontext
from pathlib import Path
from typing import Any, BinaryIO, cast

from wordgeom.core.errors import OptionError
from wordgeom.corpus.vocabulary import Vocabulary, vocabulary_bytes
from wordgeom.formats import detection
from wordgeom.formats.glove import write_glove
from wordgeom.formats.matrix_market import write_market
from wordgeom.formats.scipy_npz import write_sparse
from wordgeom.formats.word_files import companion_path
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.matrices.document_term import DOCUMENTS, Stored, StoredDocuments
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import check_words

_VOCABULARY = "vocab.txt"  # GloVe's name for the words file


def words_path(path: Path, form: str) -> Path:
    """Return the default path of a matrix file's words."""
    glove = form == detection.GLOVE
    return companion_path(path, f".{_VOCABULARY}") if glove else companion_path(path)


def find_words_path(path: Path, form: str) -> Path:
    """Return the path of a matrix file's words: the default, or GloVe's own vocab.txt."""
    ours = words_path(path, form)
    theirs = path.with_name(_VOCABULARY)
    return theirs if form == detection.GLOVE and theirs.exists() and not ours.exists() else ours


def words_content(matrix: Stored, form: str, words: Path, space: str | None) -> bytes:
    """Return the content of the words file, words with their counts.

    Raises InputError for a word with white space in GloVe's format.
    """
    vocabulary = matrix.vocabulary
    if form != detection.GLOVE:
        return vocabulary_bytes(vocabulary)
    names = check_words(vocabulary.words, space, words)
    return vocabulary_bytes(Vocabulary(names, vocabulary.counts), " ")


def documents_content(matrix: Stored, path: Path, form: str) -> tuple[Path, bytes] | None:
    """Return path and content of the documents file, None for a matrix without documents.

    Raises OptionError for GloVe's format, which cannot store documents.
    """
    if not isinstance(matrix, StoredDocuments):
        return None
    if form == detection.GLOVE:
        do = "write a .npz or .mtx file"
        what = "GloVe's format cannot store a document-term matrix"
        raise OptionError(what, where=path, do=do)
    return companion_path(path, f".{DOCUMENTS}.tsv"), matrix.store.text(DOCUMENTS)


def write_matrix(
    handle: BinaryIO, matrix: Stored, out: Path, form: str, words: Path, context: Context
) -> None:
    """Write a matrix to `handle`, the open file `out`. Raises WriteError."""
    if form == detection.NPZ:
        write_sparse(handle, matrix, context)
    elif isinstance(matrix, StoredMatrix) and form == detection.GLOVE:
        write_glove(handle, matrix)
    else:
        packed = out.suffix.lower() == ".gz"
        with (
            gzip.GzipFile("", "wb", fileobj=handle, mtime=0) if packed else nullcontext(handle)
        ) as file:
            comment, threads = f"words: {words.name}", context.pool.threads
            write_market(cast(BinaryIO, file), matrix, comment, threads)


def export_facts(matrix: Stored) -> dict[str, Any]:
    """Return the run card entry that lets an exported matrix be imported without loss."""
    store = matrix.store
    dtype = store.array("data").dtype.str
    return {"kind": store.kind, "attributes": store.attributes, "dtype": dtype}
