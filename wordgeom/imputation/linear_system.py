"""The linear system of imputation: weights split into unknown and known neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.types import Csr, Float64, Int64


@dataclass(frozen=True)
class System:
    """(I − W_qq) Y_q = W_qp Y_p with permuted unknowns.

    inner W_qq (q × q), outer W_qp (q × p): SciPy CSR arrays, float64; order (q): row r belongs to
    unknown order[r]. Reverse Cuthill–McKee ordering (1969) keeps neighbours close: products reuse
    the cache, and incomplete LU factors of a tree are complete.
    """

    inner: Any
    outer: Any
    order: Int64

    @classmethod
    def of(cls, weights: Csr, known: NDArray[np.bool_]) -> System:
        """Split weights (q × n), whose rows are the unknown entities, ascending; known (n)."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        shape = (weights.rows, weights.columns)
        full = csr_array((weights.data, weights.indices, weights.indptr), shape, copy=True)
        full.eliminate_zeros()
        inner, outer = full[:, np.flatnonzero(~known)], full[:, np.flatnonzero(known)]
        order = reverse_cuthill_mckee((inner + inner.T).tocsr(), symmetric_mode=True)
        inner, outer = inner[order][:, order], outer[order]
        for part in (inner, outer):
            part.sort_indices()
        return cls(inner, outer, order.astype(np.int64))


def relative_residual(rest: Float64, right: Float64) -> float:
    """Return the largest ‖rest‖ / ‖right‖ over the columns of two (q × K) matrices.

    Columns of `right` that are 0 are divided by the largest norm instead.
    """
    lengths = np.linalg.norm(right, axis=0)
    lengths[lengths == 0] = lengths.max(initial=0.0) or 1.0
    return float((np.linalg.norm(rest, axis=0) / lengths).max(initial=0.0))
