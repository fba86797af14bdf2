"""Document-term matrices in a store: counts in CSR, with the document of each row.

`attributes` of the store: shape, stored, the origin of the counts, and `passages`, the tokens of a
passage, if documents were split: a row is then a passage. Parts: those of a matrix, `documents`
(file, line, id and time of each row), and of each word the sum (`columnsums`) and the number of
rows that contain it (`holders`).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wordgeom.core.errors import FormatError, MissingInputError
from wordgeom.core.types import Csr, Int64
from wordgeom.corpus.vocabulary import decoded, read_vocabulary_bytes
from wordgeom.matrices.cooccurrence import DTM, StoredCsr, StoredMatrix, checked_indptr
from wordgeom.matrices.kinds import noun
from wordgeom.storage.store import Store

if TYPE_CHECKING:
    import scipy.sparse

DOCUMENTS, SUMS, DOCUMENT_FREQUENCIES = "documents", "columnsums", "holders"  # parts
_FIELDS, _DIGITS = 4, 18
_MOST = 1 << 62  # tokens
_REBUILD = "rebuild the matrix"


class Document(NamedTuple):
    """The document of a row: file (from 1), line, id and time ("" where not recorded)."""

    file: int
    line: int
    id: str
    time: str


@dataclass(frozen=True)
class StoredDocuments(StoredCsr):
    """A document-term matrix in a store; indptr (n + 1)."""

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> StoredDocuments:
        """Open the matrix in a directory; raises MissingInputError or FormatError."""
        store = Store.open(path)
        if store.kind != DTM:
            do = "create one with wordgeom build-dtm"
            what = f"is {noun(store.kind)}, not a document-term matrix"
            raise MissingInputError(what, where=path, do=do)
        words = read_vocabulary_bytes(store.text("vocab"), store.path / "vocab.tsv")
        rows = max(0, store.array("indptr").length - 1)
        return cls(store, words, checked_indptr(store, rows, len(words)))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def unit(self) -> str:
        """What a row is: a document, or a passage of one."""
        return "passage" if "passages" in self.store.attributes else "document"

    @property
    def column_sums(self) -> Int64:
        """The total count (V) of each word; raises FormatError."""
        return self._of_words(SUMS, _MOST)

    @property
    def document_frequencies(self) -> Int64:
        """The number (V) of rows that contain each word; raises FormatError."""
        return self._of_words(DOCUMENT_FREQUENCIES, len(self))

    def rows(self, start: int, stop: int) -> Csr:
        """Return the counts of documents [start:stop), checked; raises FormatError."""
        found = super().rows(start, stop)
        if found.nnz and (found.data.min() < 1 or found.data.sum(dtype=np.float64) > _MOST):
            raise FormatError("a count is out of range", where=self.path, do=_REBUILD)
        return found

    def _of_words(self, part: str, most: int) -> Int64:
        found = self.sums_in(part)
        fits = found.min(initial=0) >= 0 and found.max(initial=0) <= most
        if not fits or found.sum(dtype=np.float64) > _MOST:
            raise FormatError(f"its {part} do not match the matrix", where=self.path, do=_REBUILD)
        return found

    def full(self) -> Csr:
        """Return all counts in memory, (n × V)."""
        return self.rows(0, len(self))

    def documents(self) -> list[Document]:
        """Return the document of each row (n); raises FormatError."""
        where = self.path / f"{DOCUMENTS}.tsv"
        found = parse_documents(self.store.text(DOCUMENTS), where)
        if len(found) != len(self):
            what = f"has {len(found):,} lines for {len(self):,} rows of the matrix"
            raise FormatError(what, where=where)
        return found

    def names(self) -> list[str]:
        """Return the names of the files, in the order in which documents number them."""
        return [str(one.get("name")) for one in self.store.request["inputs"]]

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return all counts, (n × V)."""
        import scipy.sparse

        counts = self.full()
        parts = (counts.data, counts.indices, counts.indptr)
        return scipy.sparse.csr_array(parts, shape=self.shape)


Stored = StoredMatrix | StoredDocuments


def open_stored(path: str | os.PathLike[str]) -> Stored:
    """Open a matrix of any kind; raises MissingInputError or FormatError."""
    kind = Store.open(path).kind
    return StoredDocuments.open(path) if kind == DTM else StoredMatrix.open(path)


def parse_documents(content: bytes, where: Path) -> list[Document]:
    """Return the documents in the content of documents.tsv; raises FormatError."""
    lines = decoded(content, where).split("\n")[:-1]
    return [_document(line, where, number) for number, line in enumerate(lines, 1)]


def source_documents(documents: Sequence[Document]) -> Int64:
    """Return the index of the document of each row (n) int64, from 0.

    Rows of one file and line are the passages of one document: no two documents share them, since a
    document begins in a line below the one before (in Parquet, in another row of the table).
    """
    places = np.array([row[:2] for row in documents], np.int64).reshape(-1, 2)
    begins = np.diff(places, axis=0, prepend=-1).any(axis=1)
    return np.cumsum(begins, dtype=np.int64) - 1


def _document(line: str, where: Path, number: int) -> Document:
    cells = line.split("\t")
    numbers = [c for c in cells[:2] if c.isascii() and c.isdecimal() and len(c) <= _DIGITS]
    if len(cells) == _FIELDS and len(numbers) == 2:
        return Document(int(cells[0]), int(cells[1]), cells[2], cells[3])
    place = f"{where} line {number}"
    raise FormatError("expected a document", where=place, found=line[:40], do=_REBUILD)
