"""Sparse matrices as SciPy's save_npz writes them, made dense."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.formats.npz import Archive
from wordgeom.formats.sparse_layouts import entries, shape
from wordgeom.imputation.tables.files import check_size


def read_sparse(archive: Archive, path: Path, memory: int) -> Float64:
    """Return the matrix (n × d) of an archive. Raises FormatError; InputError if it is too large.

    Needs --memory for n · d numbers, however few of them are stored. Entries of one place are
    added up, as SciPy does.
    """
    rows, columns = shape(archive, path)
    check_size(rows, columns, memory, path)
    dense = np.zeros((rows, columns))
    cells = dense.ravel()
    with np.errstate(invalid="ignore", over="ignore"):  # sums that are not finite are told later
        for row, column, values in entries(archive, path, rows, columns):
            np.add.at(cells, row * columns + column, values)
    return dense
