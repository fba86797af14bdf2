"""Some rows or some columns of a sparse matrix."""

from __future__ import annotations

import numpy as np

from wordgeom.types import Array, Csr


def rows(sparse: Csr, chosen: Array) -> Csr:
    """Return the rows (n) bool that are `chosen` (n × m)."""
    lengths = np.diff(sparse.indptr)
    there = np.repeat(chosen, lengths)
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths[chosen], dtype=np.int64)])
    return Csr(indptr, sparse.indices[there], sparse.data[there], sparse.columns)


def columns(sparse: Csr, chosen: Array) -> Csr:
    """Return the columns (m) bool that are `chosen` (n × m), numbered anew."""
    there = chosen[sparse.indices]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(there, dtype=np.int64)])
    number = (np.cumsum(chosen) - 1).astype(np.int32)
    return Csr(
        before[sparse.indptr], number[sparse.indices[there]], sparse.data[there],
        int(np.count_nonzero(chosen)),
    )  # fmt: skip
