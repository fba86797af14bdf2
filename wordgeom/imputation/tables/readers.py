"""Detect the kind of a table from its suffix or content, and choose the reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.formats.npy import MAGIC
from wordgeom.imputation.tables import delimited, npy, npz, parquet
from wordgeom.imputation.tables.files import check_size, opened
from wordgeom.imputation.tables.table import Table
from wordgeom.imputation.tables.workbooks import ZIP, check_not_workbook, members
from wordgeom.storage.foreign import recognise
from wordgeom.vectors import word2vec_header
from wordgeom.vectors.keyed import read_vectors
from wordgeom.vectors.word2vec_header import NUMBER

NPY, NPZ, PARQUET, DELIMITED, VECTORS = "npy", "npz", "parquet", "delimited", "vectors"
_SUFFIXES = {
    ".npy": NPY, ".npz": NPZ, ".parquet": PARQUET, ".pq": PARQUET, ".csv": DELIMITED,
    ".tsv": DELIMITED, ".bin": VECTORS, ".vec": VECTORS,
}  # fmt: skip
_PEEKED, _ENOUGH = 256, 3  # bytes read, and fields of the first line used, to detect the kind
_JSON = (b"{", b"[")
_KINDS_HINT = (
    "name a .npy, .npz, .csv, .tsv or .parquet file (.csv.gz and .tsv.gz too), or word vectors, "
    ".bin, .txt or .vec"
)


def kind_of(path: Path) -> str:
    """Return the kind of a table's file.

    Files with other suffixes, such as .txt, are detected by content: NumPy's formats by their
    first bytes; word vectors by a first line of two integers, or of a word and numbers separated
    by spaces; a delimited table by a tab or comma. Raises MissingInputError, and InputError for
    workbooks and unknown kinds.
    """
    with opened(path) as source:
        head = source.read(_PEEKED)
    check_not_workbook(path, head)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix != ".npz":
        _check_arrays(path, head)
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if head.startswith(MAGIC):
        return NPY
    if head.startswith(ZIP):
        return NPZ
    if head.startswith(delimited.GZIP_MAGIC):
        return DELIMITED
    kind = _kind_of_text(head.partition(b"\n")[0])
    if kind is None:
        foreign = recognise(head, path.name) if suffix in ("", ".txt") else None
        if foreign is not None:
            raise InputError(foreign.line, where=path, found=foreign.found, do=foreign.do)
        kind_of = f"a {suffix} file" if suffix else "a name without suffix"
        raise InputError(f"unsupported kind of table: {kind_of}", where=path, do=_KINDS_HINT)
    return kind


def _check_arrays(path: Path, head: bytes) -> None:
    """Raise InputError for a zip archive without arrays, such as a document of an office program.

    Broken archives are reported by the reader of .npz.
    """
    names = members(path, head)
    if names is not None and not any(name.endswith(".npy") for name in names):
        listed = head[: len(ZIP)] + " ".join(names).encode(errors="replace")
        if foreign := recognise(listed, path.name):
            raise InputError(foreign.line, where=path, do=foreign.do)


def _kind_of_text(line: bytes) -> str | None:
    """Return the kind of table with the given first line or its beginning, or None."""
    fields = line.split()
    if len(fields) == 2 and all(map(bytes.isdigit, fields)):
        return VECTORS
    if b"\0" in line or line.startswith(_JSON):
        return None
    if b"\t" in line or b"," in line:
        return DELIMITED
    numbers = fields[1:_ENOUGH]  # later fields may be cut off
    return VECTORS if len(numbers) > 1 and all(map(NUMBER.fullmatch, numbers)) else None


def holds_names(path: Path, kind: str) -> bool:
    """Return whether a table's file contains the names."""
    return npz.has_names(path) if kind == NPZ else kind != NPY


def read_table(path: Path, kind: str, memory: int) -> Table:
    """Read a table of the given kind. Raises what its reader raises."""
    readers = {
        NPY: npy.read_npy, NPZ: npz.read_npz, PARQUET: parquet.read_parquet,
        DELIMITED: delimited.read_delimited, VECTORS: _read_vectors,
    }  # fmt: skip
    return readers[kind](path, memory)


def _read_vectors(path: Path, memory: int) -> Table:
    with word2vec_header.opened(path) as source:
        header = word2vec_header.read_header(source, path)
    check_size(header.words, header.numbers, memory, path)
    read = read_vectors(path)
    with np.errstate(invalid="ignore"):  # signalling NaNs are missing values too
        matrix = read.matrix.astype(np.float64)
    return Table(matrix, read.words, repeated=read.duplicates)
