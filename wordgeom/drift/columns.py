"""Some columns of a sparse matrix."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Csr


def select_columns(sparse: Csr, chosen: Array) -> Csr:
    """Return the columns (m) bool that are `chosen` (n × m), numbered anew."""
    there = chosen[sparse.indices]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(there, dtype=np.int64)])
    number = (np.cumsum(chosen) - 1).astype(np.int32)
    return Csr(
        before[sparse.indptr], number[sparse.indices[there]], sparse.data[there],
        int(np.count_nonzero(chosen)),
    )  # fmt: skip
