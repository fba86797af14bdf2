"""SciPy's sparse matrices in .npz (scipy.sparse.save_npz): read any layout, write csr."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Int64
from wordgeom.formats import matrix_entries, sparse_layouts
from wordgeom.formats.entries import Block
from wordgeom.formats.npz import opened_archive
from wordgeom.matrices.cooccurrence import PMI
from wordgeom.matrices.document_term import Stored, StoredDocuments
from wordgeom.runtime.context import Context
from wordgeom.storage.scratch import Scratch

_MEMORY_SHARE = 4  # a member read at once may take memory / 4
_COPIED = 1 << 20  # numbers copied at once


@dataclass(frozen=True)
class SparseFile:
    """A sparse matrix in an archive (entries.EntryFile); max_bytes: memory limit of a member."""

    path: Path
    shape: tuple[int, int]
    max_bytes: int
    symmetric: bool = False
    entries: None = None

    @classmethod
    def open(cls, path: Path, memory: int) -> SparseFile:
        """Read the shape. Raises FormatError; InputError for an archive without sparse matrix."""
        with opened_archive(path, memory // _MEMORY_SHARE) as archive:
            if sparse_layouts.FORMAT not in archive.members:
                found = ", ".join(archive.members)[:80] or "no arrays"
                do = "write it with scipy.sparse.save_npz"
                raise InputError("not a SciPy sparse matrix", where=path, found=found, do=do)
            return cls(path, sparse_layouts.shape(archive, path), memory // _MEMORY_SHARE)

    def blocks(self) -> Iterator[Block]:
        """Yield all entries. Raises FormatError, InputError."""
        with opened_archive(self.path, self.max_bytes) as archive:
            yield from sparse_layouts.entries(archive, self.path, *self.shape)


def write_sparse(out: BinaryIO, matrix: Stored, context: Context) -> None:
    """Write both triangles of a matrix as csr, in float64 (counts) or float32 (PMI)."""
    lengths = np.zeros(matrix.shape[0] + 1, np.int64)
    dtype = np.dtype(np.float32 if matrix.store.kind == PMI else np.float64)
    with (
        Scratch(context.scratch) as data,
        zipfile.ZipFile(out, "w") as packed,  # uncompressed, for speed
    ):
        entries = _entries(matrix)
        index = np.dtype(np.int32 if entries < 1 << 31 else np.int64)
        with _member(packed, "indices", index, entries) as indices:
            for first, many, columns, values in _rows(matrix, context):
                lengths[first + 1 : first + 1 + len(many)] = many
                indices.write(columns.astype(index, copy=False).data)
                data.put(matrix_entries.values(matrix, values).astype(dtype, copy=False))
        with _member(packed, "indptr", index, len(lengths)) as indptr:
            indptr.write(np.cumsum(lengths).astype(index).data)
        with _member(packed, "data", dtype, entries) as numbers:
            for start in range(0, entries, _COPIED):
                part = np.empty(min(_COPIED, entries - start), dtype)
                data.read(start * dtype.itemsize, part)
                numbers.write(part.data)
        _scalars(packed, matrix.shape)


def _entries(matrix: Stored) -> int:
    """Return the number of entries in both triangles."""
    if not matrix.symmetric:
        return matrix.stored
    diagonal = sum(int((row == column).sum()) for row, column, _ in matrix_entries.blocks(matrix))
    return 2 * matrix.stored - diagonal


def _rows(matrix: Stored, context: Context) -> Iterator[tuple[int, Int64, Array, Array]]:
    """Yield blocks of rows of both triangles: first row, row lengths, columns, data."""
    if isinstance(matrix, StoredDocuments) or not matrix.symmetric:
        for start, stop in matrix.row_blocks():
            part = matrix.rows(start, stop)
            yield start, np.diff(part.indptr), part.indices, part.data
        return
    from wordgeom.counts.merge import merge
    from wordgeom.counts.summands import Summand
    from wordgeom.formats.row_grouping import RowGrouper

    size = len(matrix.vocabulary)
    dtype = matrix.store.array("data").dtype
    integers: np.dtype[Any] = np.dtype(np.uint32) if dtype == np.float32 else dtype
    with RowGrouper(size, integers, context) as mirrored:
        for row, column, data in matrix_entries.blocks(matrix):
            off = row != column
            mirrored.add(column[off], row[off], matrix_entries.as_integers(data)[off])
        parts: list[Summand] = [matrix_entries.IntegerMatrix(matrix), *mirrored.parts()]
        blocks, _ = merge(parts, size, False, integers, context.pool)
        for block in blocks:
            yield block.start, block.lengths, block.indices, block.values.view(dtype)


@contextmanager
def _member(
    packed: zipfile.ZipFile, name: str, dtype: np.dtype[Any], length: int
) -> Iterator[IO[bytes]]:
    """Open a member for a one-dimensional array, after writing its header."""
    with packed.open(zipfile.ZipInfo(f"{name}.npy"), "w", force_zip64=True) as member:
        header = {"descr": dtype.str, "fortran_order": False, "shape": (length,)}
        np.lib.format.write_array_header_1_0(member, header)
        yield member


def _scalars(packed: zipfile.ZipFile, shape: tuple[int, int]) -> None:
    """Write shape and layout; `_is_array` makes recent SciPy load a sparse array."""
    for name, value in (("shape", shape), ("format", b"csr"), ("_is_array", True)):
        with packed.open(zipfile.ZipInfo(f"{name}.npy"), "w") as member:
            np.lib.format.write_array(member, np.asarray(value), allow_pickle=False)
