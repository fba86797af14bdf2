"""Solve the linear systems of imputation, eight columns at a time per thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import numpy as np

from wordgeom.core.types import Float64
from wordgeom.imputation.linear_system import System, relative_residual
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.mmatrix import Factored, Group, multiply, squared_norms
from wordgeom.linalg.mmatrix_kernels import WIDTH
from wordgeom.runtime.pool import Pool

_ARRAYS = 10  # (q × WIDTH) float64 arrays per group
_WORK = 1 << 30  # bytes of all groups in progress, exceeded if needed for two


class ExactSolver:
    """(I − W_qq) Y_q = W_qp Y_p for anchors Y_p (p × K); `vectors` (q × K) is Y_q."""

    def __init__(self, system: System, anchors: Float64) -> None:
        self._system, self._anchors = system, anchors
        self._factored = Factored.of(system.matrix())
        self._mean = anchors.mean(axis=0)
        self.vectors = np.empty((system.outer.rows, anchors.shape[1]))
        self._stopped = threading.Event()  # Ctrl-C stops groups after the current iteration

    def solve_groups(self, pool: Pool) -> Iterator[tuple[int, float]]:
        """Solve group by group; yield the iterations and the residual of each."""
        size = _ARRAYS * WIDTH * 8 * len(self.vectors)
        ahead = min(2 * pool.threads, max(1, _WORK // size - 1))
        try:
            yield from pool.map(self._solve, self._firsts(), ahead)
        finally:
            self._stopped.set()

    def solve_direct(self, pool: Pool) -> float:
        """Solve by complete LU factorisation; return the residual.

        Iterations fail on weakly connected clusters; there the factors are small.
        """
        from scipy.sparse import csr_matrix
        from scipy.sparse.linalg import splu

        matrix = self._factored.matrix
        full = csr_matrix((matrix.data, matrix.indices, matrix.indptr)).tocsc()
        right = np.hstack([self._right(first)[0] for first in self._firsts()])
        with one_thread():
            factors = pool.call(
                lambda: splu(
                    full, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0,
                    options={"SymmetricMode": True},
                )
            )  # fmt: skip
            found = pool.call(lambda: factors.solve(right))
        self.vectors[self._system.order] = found[:, : self.vectors.shape[1]]
        return relative_residual(right - full @ found, right)

    def _firsts(self) -> range:
        return range(0, self._anchors.shape[1], WIDTH)

    def _solve(self, first: int) -> tuple[int, float]:
        right, start = self._right(first)
        group = Group(self._factored, right, start)
        for _ in group.steps():
            if self._stopped.is_set():
                break
        rest = right - multiply(self._factored.matrix, group.solution)
        columns = slice(first, first + WIDTH)
        self.vectors[self._system.order, columns] = group.solution[:, : self._mean[columns].size]
        return group.iterations, relative_residual(rest, right)

    def _right(self, first: int) -> tuple[Float64, Float64]:
        """Return right-hand sides W_qp y_p and initial guesses, (q × WIDTH) both, padded with 0.

        The guess is the mean of y_p, or 0 if that has the smaller residual.
        """
        columns = slice(first, first + WIDTH)
        width = self._mean[columns].size
        block, start = np.zeros((len(self._anchors), WIDTH)), np.zeros((len(self.vectors), WIDTH))
        block[:, :width], start[:, :width] = self._anchors[:, columns], self._mean[columns]
        right = multiply(self._system.outer, block)
        rest = right - multiply(self._factored.matrix, start)
        start[:, squared_norms(rest) >= squared_norms(right)] = 0.0
        return right, start
