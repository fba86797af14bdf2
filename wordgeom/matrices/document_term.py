"""A documents × words matrix of counts in a store: rows of CSR, and which document a row is.

`attributes` of the store: shape, stored, and what the counts were made from; its parts: those of a
matrix, `documents` (file, line, id and time of each row), and for each word `columnsums` and
`holders`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from wordgeom.core.errors import FormatError, MissingInputError
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Csr, Int64
from wordgeom.corpus.vocabulary import Vocabulary, read_vocabulary_bytes
from wordgeom.matrices.cooccurrence import DTM, StoredMatrix, checked_indptr, read_rows, read_sums
from wordgeom.storage.store import Store

if TYPE_CHECKING:
    import scipy.sparse

DOCUMENTS, SUMS, DOCUMENT_FREQUENCIES = "documents", "columnsums", "holders"  # parts
_FIELDS, _DIGITS = 4, 18
_MOST = 1 << 62  # tokens
_AGAIN = "make the matrix again"


class Document(NamedTuple):
    """A row's document: its file (from 1) and line, its id and time, "" where not asked for."""

    file: int
    line: int
    id: str
    time: str


@dataclass(frozen=True)
class StoredDocuments:
    """Counts by document in a store. indptr (n + 1)."""

    store: Store
    vocabulary: Vocabulary
    indptr: Int64

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> StoredDocuments:
        """Open the matrix in a folder; raises MissingInputError or FormatError."""
        store = Store.open(path)
        if store.kind != DTM:
            do = "make one with wordgeom build-dtm"
            found = f"kind {store.kind!r}"
            raise MissingInputError(f"is not a {DTM} matrix", where=path, found=found, do=do)
        words = read_vocabulary_bytes(store.text("vocab"), store.path / "vocab.tsv")
        rows = max(0, store.array("indptr").length - 1)
        return cls(store, words, checked_indptr(store, rows, len(words)))

    @property
    def path(self) -> Path:
        """The store's folder."""
        return self.store.path

    def __len__(self) -> int:
        return len(self.indptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), len(self.vocabulary)

    @property
    def symmetric(self) -> bool:
        """Whether a triangle stands for the whole."""
        return False

    @property
    def denominator(self) -> int:
        """What a stored count is divided by."""
        return 1

    @property
    def stored(self) -> int:
        """Entries on the disk."""
        return int(self.indptr[-1])

    @property
    def column_sums(self) -> Int64:
        """(V) how often each word occurs in the rows; raises FormatError."""
        return self._of_words(SUMS, _MOST)

    @property
    def document_frequencies(self) -> Int64:
        """(V) how many rows hold each word; raises FormatError."""
        return self._of_words(DOCUMENT_FREQUENCIES, len(self))

    def row_blocks(self, stop: int | None = None) -> list[tuple[int, int]]:
        """Return [start, stop) of row blocks of the size that blocks have."""
        return row_blocks(self.indptr, stop)

    def rows(self, start: int, stop: int) -> Csr:
        """Return the counts of documents [start:stop), checked; raises FormatError."""
        found = read_rows(self.store, self.indptr, start, stop, len(self.vocabulary))
        if found.nnz and (found.data.min() < 1 or found.data.sum(dtype=np.float64) > _MOST):
            raise FormatError("a count is out of range", where=self.path, do=_AGAIN)
        return found

    def _of_words(self, part: str, most: int) -> Int64:
        found = read_sums(self.store, part, len(self.vocabulary))
        fits = found.min(initial=0) >= 0 and found.max(initial=0) <= most
        if not fits or found.sum(dtype=np.float64) > _MOST:
            raise FormatError(f"its {part} do not fit the matrix", where=self.path, do=_AGAIN)
        return found

    def full(self) -> Csr:
        """Return all counts in memory, (n × V)."""
        return self.rows(0, len(self))

    def documents(self) -> list[Document]:
        """Return the n documents, in order of the rows; raises FormatError."""
        where = self.path / f"{DOCUMENTS}.tsv"
        lines = _text(self.store.text(DOCUMENTS), where).split("\n")[:-1]
        if len(lines) != len(self):
            found = f"{len(lines):,} lines for {len(self):,} rows"
            raise FormatError("does not fit the matrix", where=where, found=found)
        return [_document(line, where, number) for number, line in enumerate(lines, 1)]

    def names(self) -> list[str]:
        """Return the files' names as documents number them, from 1."""
        return [str(one.get("name")) for one in self.store.request["inputs"]]

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the whole matrix of counts, (n × V)."""
        import scipy.sparse

        whole = self.full()
        parts = (whole.data, whole.indices, whole.indptr)
        return scipy.sparse.csr_array(parts, shape=self.shape)


Stored = StoredMatrix | StoredDocuments


def open_stored(path: str | os.PathLike[str]) -> Stored:
    """Open a matrix of any kind; raises MissingInputError or FormatError."""
    kind = Store.open(path).kind
    return StoredDocuments.open(path) if kind == DTM else StoredMatrix.open(path)


def _text(content: bytes, where: Path) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError("is not UTF-8", where=where, found=f"at byte {error.start:,}") from None


def _document(line: str, where: Path, number: int) -> Document:
    cells = line.split("\t")
    numbers = [c for c in cells[:2] if c.isascii() and c.isdecimal() and len(c) <= _DIGITS]
    if len(cells) == _FIELDS and len(numbers) == 2:
        return Document(int(cells[0]), int(cells[1]), cells[2], cells[3])
    raise FormatError("is no document", where=f"{where} line {number}", found=line[:40], do=_AGAIN)
