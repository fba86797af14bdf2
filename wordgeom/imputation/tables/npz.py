"""Read a table in .npz format: a dense matrix, or a sparse one from scipy.sparse.save_npz."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.types import Float64
from wordgeom.formats.npy import as_float64
from wordgeom.formats.npz import Archive, opened_archive
from wordgeom.formats.sparse_layouts import FORMAT, entries, shape
from wordgeom.imputation.tables.files import check_size, table_bytes
from wordgeom.imputation.tables.npy import check_matrix
from wordgeom.imputation.tables.table import Table

NAMES = "names"


def read_npz(path: Path, memory: int) -> Table:
    """Read the only matrix of an archive, and its `names` if present.

    Raises FormatError for a broken archive, InputError unless there is exactly one matrix and it
    fits into memory.
    """
    with opened_archive(path, table_bytes(memory)) as archive:
        if FORMAT in archive.members:
            table = Table(_dense(archive, path, memory))
        else:
            member, others = _matrix(archive, path)
            check_matrix(archive.header(member), memory, archive.where(member))
            listed = ", ".join(others[:5])
            notes = (f"{path}: ignored arrays: {listed}",) if others else ()
            table = Table(as_float64(archive.array(member)), notes=notes)
        if NAMES not in archive.members:
            return table
        return replace(table, names=_names(archive, len(table.matrix)))


def has_names(path: Path) -> bool:
    """Return whether an archive has row names."""
    with opened_archive(path, 0) as archive:
        return NAMES in archive.members


def _dense(archive: Archive, path: Path, memory: int) -> Float64:
    """Return a sparse matrix (n × d) as a dense one, with repeated entries summed as in SciPy."""
    rows, columns = shape(archive, path)
    check_size(rows, columns, memory, path)
    dense = np.zeros((rows, columns))
    cells = dense.ravel()
    with np.errstate(invalid="ignore", over="ignore"):  # nonfinite sums are reported later
        for row, column, values in entries(archive, path, rows, columns):
            np.add.at(cells, row * columns + column, values)
    return dense


def _matrix(archive: Archive, path: Path) -> tuple[str, list[str]]:
    """Return the member that is a matrix, and the ignored members."""
    others = [member for member in archive.members if member != NAMES]
    flat = [member for member in others if len(archive.header(member).shape) == 2]
    if len(flat) != 1:
        found = ", ".join(flat[:5]) or f"none among {', '.join(others[:5]) or 'no arrays'}"
        do = "save one: np.savez(FILE, matrix=…, names=…)"
        raise InputError("must contain one matrix", where=path, found=found, do=do)
    return flat[0], [member for member in others if member != flat[0]]


def _names(archive: Archive, rows: int) -> list[str]:
    where = archive.where(NAMES)
    texts = archive.array(NAMES, kinds="U")
    if texts.shape != (rows,):
        found = f"an array of shape {texts.shape}"
        raise InputError(f"must contain a name for each of {rows:,} rows", where=where, found=found)
    # NumPy accepts any 4 bytes as a character; Python raises for code points out of range.
    texts = texts.astype(texts.dtype.newbyteorder("="))
    if texts.size and int(texts.view(np.uint32).max()) > sys.maxunicode:
        raise FormatError("not text: a character is beyond U+10FFFF", where=where)
    return [str(text) for text in texts.tolist()]
