"""Read a sparse matrix of scipy.sparse.save_npz as a dense one."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.formats.npz import Archive
from wordgeom.formats.sparse_layouts import entries, shape
from wordgeom.imputation.tables.files import check_size


def read_sparse(archive: Archive, path: Path, memory: int) -> Float64:
    """Return the dense matrix (n × d) of an archive, with repeated entries summed as in SciPy.

    Raises FormatError; InputError if n · d numbers exceed the memory limit.
    """
    rows, columns = shape(archive, path)
    check_size(rows, columns, memory, path)
    dense = np.zeros((rows, columns))
    cells = dense.ravel()
    with np.errstate(invalid="ignore", over="ignore"):  # nonfinite sums are reported later
        for row, column, values in entries(archive, path, rows, columns):
            np.add.at(cells, row * columns + column, values)
    return dense
