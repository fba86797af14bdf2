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

    inner W_qq (q × q), outer W_qp (q × p); order (q): row r belongs to unknown order[r]. Reverse
    Cuthill–McKee ordering (1969) keeps neighbours close: products reuse the cache, and incomplete
    LU factors of a tree are complete.
    """

    inner: Csr
    outer: Csr
    order: Int64

    @classmethod
    def of(cls, weights: Csr, known: NDArray[np.bool_]) -> System:
        """Split weights (q × n), whose rows are the unknown entities, ascending; known (n)."""
        from scipy.sparse import csr_matrix
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        shape = (weights.rows, weights.columns)
        full = csr_matrix((weights.data, weights.indices, weights.indptr), shape, copy=True)
        full.eliminate_zeros()
        inner, outer = full[:, np.flatnonzero(~known)], full[:, np.flatnonzero(known)]
        order = reverse_cuthill_mckee((inner + inner.T).tocsr(), symmetric_mode=True)
        return cls(_csr(inner[order][:, order]), _csr(outer[order]), order.astype(np.int64))

    def matrix(self) -> Csr:
        """Return I − W_qq (q × q), with every diagonal entry stored."""
        q = self.inner.rows
        rows = np.repeat(np.arange(q), np.diff(self.inner.indptr))
        places = np.searchsorted(rows * q + self.inner.indices, np.arange(q) * (q + 1))
        indices = np.insert(self.inner.indices, places, np.arange(q, dtype=np.int32))
        data = np.insert(-self.inner.data, places, 1.0)
        return Csr(self.inner.indptr + np.arange(q + 1), indices, data, q)


def relative_residual(rest: Float64, right: Float64) -> float:
    """Return the largest ‖rest‖ / ‖right‖ over the columns of two (q × K) matrices.

    Columns of `right` that are 0 are divided by the largest norm instead.
    """
    lengths = np.linalg.norm(right, axis=0)
    lengths[lengths == 0] = lengths.max(initial=0.0) or 1.0
    return float((np.linalg.norm(rest, axis=0) / lengths).max(initial=0.0))


def _csr(matrix: Any) -> Csr:
    matrix.sort_indices()
    indptr, indices = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return Csr(indptr, indices, matrix.data, matrix.shape[1])
