"""Which kind of table a file is, told by its suffix or else its content, and its reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wordgeom import vectors_header
from wordgeom.imputation import archives, arrays, delimited, parquet
from wordgeom.imputation.files import check_size, opened
from wordgeom.imputation.table import Table
from wordgeom.vectors import read_vectors

NPY, NPZ, PARQUET, DELIMITED, VECTORS = "npy", "npz", "parquet", "delimited", "vectors"
_SUFFIXES = {
    ".npy": NPY, ".npz": NPZ, ".parquet": PARQUET, ".pq": PARQUET, ".csv": DELIMITED,
    ".tsv": DELIMITED, ".bin": VECTORS, ".vec": VECTORS,
}  # fmt: skip
_ZIP = b"PK\x03\x04"
_PEEKED = 256


def kind_of(path: Path) -> str:
    """Return the kind of a table's file. Raises MissingInputError where there is none.

    Of other suffixes, .txt among them: NumPy's formats by their first bytes; word vectors where
    the first line is two whole numbers or holds neither tab nor comma; else a table of text.
    """
    with opened(path) as source:
        head = source.read(_PEEKED)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    if suffix in _SUFFIXES:
        return _SUFFIXES[suffix]
    if head.startswith(arrays.MAGIC):
        return NPY
    if head.startswith(_ZIP):
        return NPZ
    if head.startswith(delimited.GZIP_MAGIC):
        return DELIMITED
    line = head.partition(b"\n")[0]
    counted = len(line.split()) == 2 and all(map(bytes.isdigit, line.split()))
    return DELIMITED if not counted and (b"\t" in line or b"," in line) else VECTORS


def holds_names(path: Path, kind: str) -> bool:
    """Tell whether a table's file names its entities itself."""
    return archives.has_names(path) if kind == NPZ else kind != NPY


def read_table(path: Path, kind: str, memory: int) -> Table:
    """Read a table of a known kind. Raises what the reader of the kind raises."""
    if kind == NPY:
        return arrays.read_npy(path, memory)
    if kind == NPZ:
        return archives.read_npz(path, memory)
    if kind == PARQUET:
        return parquet.read_parquet(path, memory)
    if kind == DELIMITED:
        return delimited.read_delimited(path, memory)
    return _read_vectors(path, memory)


def _read_vectors(path: Path, memory: int) -> Table:
    with opened(path) as source:
        header = vectors_header.read_header(source, path)
    check_size(header.words, header.numbers, memory, path)
    read = read_vectors(path)
    return Table(read.matrix.astype(np.float64), read.words, repeated=read.duplicates)
