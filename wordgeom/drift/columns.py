"""Select columns of a sparse matrix."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Csr


def select_columns(sparse: Csr, mask: Array) -> Csr:
    """Return the columns of a matrix (n × m) where `mask` (m) is true, renumbered."""
    selected = mask[sparse.indices]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(selected, dtype=np.int64)])
    number = (np.cumsum(mask) - 1).astype(np.int32)
    return Csr(
        before[sparse.indptr], number[sparse.indices[selected]], sparse.data[selected],
        int(np.count_nonzero(mask)),
    )  # fmt: skip
