"""Read a table in NumPy's .npy format."""

from __future__ import annotations

from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.formats.npy import Header, as_float64, read_body, read_header
from wordgeom.imputation.tables.files import check_size, opened
from wordgeom.imputation.tables.table import Table


def read_npy(path: Path, memory: int) -> Table:
    """Read a matrix (n × d) of real numbers. Raises FormatError, InputError."""
    with opened(path) as source:
        size = path.stat().st_size
        header = read_header(source, size, path)
        check_matrix(header, memory, path)
        return Table(as_float64(read_body(source, header, path)))


def check_matrix(header: Header, memory: int, where: str | Path) -> None:
    """Raise InputError for an array that is not two-dimensional, or too large for memory."""
    if len(header.shape) != 2:
        do = "save a matrix with a row per entity"
        found = f"an array of shape {header.shape}"
        raise InputError("must have two dimensions", where=where, found=found, do=do)
    check_size(*header.shape, memory, where)
