"""The primitives in NumPy and Numba: the same bytes at any number of threads."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordgeom.linalg import kernels
from wordgeom.linalg.ops import fix_signs
from wordgeom.pool import Pool
from wordgeom.types import Csr, Float64, Int64

_BLOCK = 1 << 28  # multiplications in a block: some hundredths of a second


class NumpyOps:
    """Linear algebra on the CPU; sparse products on the pool."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def eigh_top(self, symmetric: Float64, k: int) -> tuple[Float64, Float64]:
        """Return the k algebraically largest eigenvalues, descending (k), and vectors (m × k)."""
        from threadpoolctl import threadpool_limits

        # One thread: the order of a threaded LAPACK's additions depends on their number.
        with threadpool_limits(limits=1, user_api="blas"):
            values, vectors = self._pool.call(lambda: np.linalg.eigh(symmetric))  # ascending
        top = slice(None, -k - 1, -1)
        return values[top].copy(), np.ascontiguousarray(fix_signs(vectors[:, top]))

    def spmm(self, sparse: Csr, dense: NDArray[Any]) -> NDArray[Any]:
        """Return sparse (V × m) times dense (m × K), (V × K), in the type of the sparse data."""
        right = np.ascontiguousarray(dense, sparse.data.dtype)
        out = np.empty((sparse.rows, right.shape[1]), sparse.data.dtype)

        def run(block: tuple[int, int]) -> None:
            kernels.multiply_rows(sparse.indptr, sparse.indices, sparse.data, right, *block, out)

        for _ in self._pool.map(run, _cut(sparse.indptr, _BLOCK // max(1, right.shape[1]))):
            pass
        return out


def _cut(indptr: Int64, entries: int) -> list[tuple[int, int]]:
    """Cut rows into blocks of about `entries` entries, whatever the number of threads."""
    marks = np.arange(0, int(indptr[-1]), max(1, entries))
    starts = np.unique(np.searchsorted(indptr, marks, side="right") - 1)
    edges = [0, *starts[1:].tolist(), len(indptr) - 1]
    return list(pairwise(edges))
