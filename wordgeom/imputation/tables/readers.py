"""Which kind of table a file is, told by its suffix or else its content, and its reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.formats.npy import MAGIC
from wordgeom.imputation.tables import delimited, npy, npz, parquet
from wordgeom.imputation.tables.files import check_size, opened
from wordgeom.imputation.tables.table import Table
from wordgeom.imputation.tables.workbooks import ZIP, check_not_workbook
from wordgeom.vectors import word2vec_header
from wordgeom.vectors.keyed import read_vectors
from wordgeom.vectors.word2vec_header import NUMBER

NPY, NPZ, PARQUET, DELIMITED, VECTORS = "npy", "npz", "parquet", "delimited", "vectors"
_SUFFIXES = {
    ".npy": NPY, ".npz": NPZ, ".parquet": PARQUET, ".pq": PARQUET, ".csv": DELIMITED,
    ".tsv": DELIMITED, ".bin": VECTORS, ".vec": VECTORS,
}  # fmt: skip
_PEEKED, _ENOUGH = 256, 3  # bytes, and of the first line's fields those that tell
_JSON = (b"{", b"[")
_KINDS_HINT = (
    "name a .npy, .npz, .csv, .tsv or .parquet file (.csv.gz and .tsv.gz too), or word vectors, "
    ".bin, .txt or .vec"
)


def kind_of(path: Path) -> str:
    """Return the kind of a table's file.

    Of other suffixes, .txt among them: NumPy's formats by their first bytes; word vectors where
    the first line is two whole numbers, or a word and numbers with blanks; a table of text where
    it holds a tab or comma. Raises MissingInputError where there is no file, InputError for a
    workbook and for what is none of these.
    """
    with opened(path) as source:
        head = source.read(_PEEKED)
    check_not_workbook(path, head)
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
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
        found = f"a {suffix} file" if suffix else "a name without suffix"
        raise InputError("is no table that can be read", where=path, found=found, do=_KINDS_HINT)
    return kind


def _kind_of_text(line: bytes) -> str | None:
    """Return the kind that a first line, or the beginning of it, is of; None for no table's."""
    fields = line.split()
    if len(fields) == 2 and all(map(bytes.isdigit, fields)):
        return VECTORS
    if b"\0" in line or line.startswith(_JSON):
        return None
    if b"\t" in line or b"," in line:
        return DELIMITED
    numbers = fields[1:_ENOUGH]  # the last that is there may be cut
    return VECTORS if len(numbers) > 1 and all(map(NUMBER.fullmatch, numbers)) else None


def holds_names(path: Path, kind: str) -> bool:
    """Tell whether a table's file names its entities itself."""
    return npz.has_names(path) if kind == NPZ else kind != NPY


def read_table(path: Path, kind: str, memory: int) -> Table:
    """Read a table of a known kind. Raises what the reader of the kind raises."""
    if kind == NPY:
        return npy.read_npy(path, memory)
    if kind == NPZ:
        return npz.read_npz(path, memory)
    if kind == PARQUET:
        return parquet.read_parquet(path, memory)
    if kind == DELIMITED:
        return delimited.read_delimited(path, memory)
    return _read_vectors(path, memory)


def _read_vectors(path: Path, memory: int) -> Table:
    with word2vec_header.opened(path) as source:
        header = word2vec_header.read_header(source, path)
    check_size(header.words, header.numbers, memory, path)
    read = read_vectors(path)
    with np.errstate(invalid="ignore"):  # a signalling NaN is missing as any other
        matrix = read.matrix.astype(np.float64)
    return Table(matrix, read.words, repeated=read.duplicates)
