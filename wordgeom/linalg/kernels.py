"""Loops of sparse linear algebra."""

from __future__ import annotations

from wordgeom._jit import kernel
from wordgeom.types import Array, Int32, Int64


@kernel
def multiply_rows(
    indptr: Int64, indices: Int32, data: Array, dense: Array, start: int, stop: int, out: Array
) -> None:
    """Set out[start:stop] to rows of a sparse matrix (V × m) times dense (m × K).

    A row's entries are added in their order, in the type of `out`.
    """
    width = dense.shape[1]
    for r in range(start, stop):
        row = out[r]
        for c in range(width):
            row[c] = 0
        for k in range(indptr[r], indptr[r + 1]):
            value = data[k]
            line = dense[indices[k]]
            for c in range(width):
                row[c] += value * line[c]
