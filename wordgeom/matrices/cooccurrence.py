"""Words × words matrices in a store, in CSR: in full, or the upper triangle of a symmetric one.

A triangle (column ≥ row) halves the bytes to write and read. `attributes` of the store: shape,
triangle ("upper" or ""), denominator (stored count = value × denominator), and the origin of the
counts.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.errors import FormatError, MissingInputError
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Csr, Int64
from wordgeom.corpus.vocabulary import Vocabulary, read_vocabulary_bytes, vocabulary_bytes
from wordgeom.matrices.kinds import COOC as COOC
from wordgeom.matrices.kinds import DTM as DTM
from wordgeom.matrices.kinds import PMI as PMI
from wordgeom.matrices.kinds import noun
from wordgeom.storage.meta import HEADER
from wordgeom.storage.store import Store, StoreWriter

if TYPE_CHECKING:
    import scipy.sparse

INDEX_BYTES = 4  # of a column
_VALUES = {COOC: ("<u4", "<i8"), PMI: ("<f4", "<f8", "<i8"), DTM: ("<u4", "<i8")}
_REBUILD = "rebuild it"


@dataclass(frozen=True)
class StoredCsr:
    """A matrix in a store, by rows; indptr (rows + 1) of its stored rows.

    symmetric: only the upper triangle is stored; denominator: of the stored counts.
    """

    store: Store
    vocabulary: Vocabulary
    indptr: Int64
    symmetric: bool = False
    denominator: int = 1

    @property
    def path(self) -> Path:
        """The directory of the store."""
        return self.store.path

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self.indptr) - 1, len(self.vocabulary)

    @property
    def stored(self) -> int:
        """Number of stored entries."""
        return int(self.indptr[-1])

    def row_blocks(self, stop: int | None = None) -> list[tuple[int, int]]:
        """Return [start, stop) of blocks of the first `stop` rows."""
        return row_blocks(self.indptr, stop)

    def rows(self, start: int, stop: int) -> Csr:
        """Return stored rows, their columns checked; raises FormatError."""
        return read_rows(self.store, self.indptr[start : stop + 1], start, self.shape[1],
                         symmetric=self.symmetric)  # fmt: skip

    def sums_in(self, part: str) -> Int64:
        """Return the int64 array (V) `part` of the matrix; raises FormatError."""
        array = self.store.array(part)
        if array.length != len(self.vocabulary) or array.dtype != np.int64:
            raise FormatError(f"its {part} do not match the matrix", where=self.path, do=_REBUILD)
        return array.read()


@dataclass(frozen=True)
class StoredMatrix(StoredCsr):
    """A words × words matrix in a store."""

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], kinds: tuple[str, ...] = (COOC, PMI)
    ) -> StoredMatrix:
        """Open the matrix in a directory; raises MissingInputError or FormatError."""
        store = Store.open(path)
        if store.kind not in kinds:
            what = f"is {noun(store.kind)}, not {' or '.join(noun(kind) for kind in kinds)}"
            do = "create one with wordgeom build-cooc"
            raise MissingInputError(what, where=path, do=do)
        words = read_vocabulary_bytes(store.text("vocab"), store.path / "vocab.tsv")
        indptr, attributes = checked_indptr(store, len(words), len(words)), store.attributes
        symmetric = attributes.get("triangle") == "upper"
        return cls(store, words, indptr, symmetric, attributes.get("denominator", 1))

    def sums(self, axis: str) -> Int64:
        """Return the sums (V) int64 of the full matrix by "row" or "column", in stored units."""
        return self.sums_in("rowsums" if axis == "row" or self.symmetric else "columnsums")

    def to_scipy(self) -> scipy.sparse.csr_array:
        """Return the full matrix, both triangles, counts divided by their denominator."""
        import scipy.sparse

        rows = self.rows(0, len(self.vocabulary))
        data = rows.data if self.store.kind == PMI else rows.data / self.denominator
        stored = scipy.sparse.csr_array((data, rows.indices, rows.indptr), shape=self.shape)
        if not self.symmetric:
            return stored
        return scipy.sparse.csr_array(stored + scipy.sparse.triu(stored, k=1).T)


def read_rows(store: Store, indptr: Int64, first: int, columns: int, *, symmetric: bool) -> Csr:
    """Return stored rows from `first`, which begin at indptr (rows + 1); raises FormatError."""
    begin, end = int(indptr[0]), int(indptr[-1])
    indices = store.array("indices").read(begin, end)
    data = store.array("data").read(begin, end)
    low = first if symmetric else 0
    if len(indices) and not low <= indices.min() <= indices.max() < columns:
        raise FormatError("a column is out of range", where=store.path, do=_REBUILD)
    return Csr(indptr - begin, indices, data, columns)


def checked_indptr(store: Store, rows: int, columns: int) -> Int64:
    """Return indptr of a stored matrix; raises FormatError where its parts are inconsistent."""
    _check_types(store)
    indptr, entries = store.array("indptr").read(), store.array("indices").length
    consistent = (
        store.attributes.get("shape") == [rows, columns]
        and len(indptr) == rows + 1
        and store.array("data").length == entries
        and int(indptr[0]) == 0
        and int(indptr[-1]) == entries
        and bool(np.all(indptr[1:] >= indptr[:-1]))
    )
    if not consistent:
        raise FormatError("its parts are inconsistent", where=store.path, do=_REBUILD)
    return indptr


def _check_types(store: Store) -> None:
    """Raise FormatError for a matrix of dtypes that the kernels do not accept."""
    known = store.array("indices").dtype == np.int32 and store.array("indptr").dtype == np.int64
    known &= store.array("data").dtype.str in _VALUES.get(store.kind, ())
    denominator = store.attributes.get("denominator", 1)
    if not known or type(denominator) is not int or denominator < 1:
        raise FormatError("its parts are inconsistent", where=store.path, do=_REBUILD)


def csr_bytes(rows: int, entries: int, dtype: DTypeLike, vocabulary: int) -> int:
    """Return the bytes that MatrixWriter writes; vocabulary: those of the words and counts."""
    width = INDEX_BYTES + np.dtype(dtype).itemsize
    return 3 * HEADER + 8 * (rows + 1) + entries * width + vocabulary


def sums_bytes(arrays: int, length: int) -> int:
    """Return the bytes of int64 arrays, such as sums, of a length each."""
    return arrays * (HEADER + 8 * length)


class MatrixWriter:
    """Writes the rows of a matrix, in order, into a StoreWriter.

    earlier: lengths of the rows that an interrupted run wrote; rows: their final number, where
    that is not the number of words.
    """

    def __init__(
        self,
        writer: StoreWriter,
        vocabulary: Vocabulary,
        dtype: DTypeLike,
        earlier: Int64 | None = None,
        rows: int | None = None,
    ) -> None:
        self._writer, self._vocabulary = writer, vocabulary
        self._indptr = np.zeros((len(vocabulary) if rows is None else rows) + 1, np.int64)
        self._rows = 0 if earlier is None else len(earlier)
        self._indptr[1 : self._rows + 1] = 0 if earlier is None else earlier
        self._indices = writer.array("indices", np.int32)
        self._data = writer.array("data", dtype)

    @property
    def lengths(self) -> Int64:
        """The lengths of the rows written so far."""
        return self._indptr[1 : self._rows + 1]

    def write(self, lengths: Int64, indices: Array, data: Array) -> None:
        """Append rows of the given lengths, with their columns and values."""
        stop = self._rows + len(lengths)
        self._indptr[self._rows + 1 : stop + 1] = lengths
        self._rows = stop
        self._indices.write(indices)
        self._data.write(data)

    def finish(self, attributes: dict[str, Any]) -> dict[str, Any]:
        """Write indptr and the vocabulary; return the attributes with shape and entries added."""
        np.cumsum(self._indptr, out=self._indptr)
        self._writer.array("indptr", np.int64).write(self._indptr)
        self._writer.text("vocab", vocabulary_bytes(self._vocabulary))
        shape = [len(self._indptr) - 1, len(self._vocabulary)]
        return {"shape": shape, "stored": int(self._indptr[-1]), **attributes}
