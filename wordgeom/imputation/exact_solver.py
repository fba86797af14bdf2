"""Solve the linear system of imputation by LU factors, or by BiCGSTAB behind incomplete ones.

I − W_qq is an M-matrix, whose incomplete LU factors exist (Meijerink and van der Vorst 1977). Each
thread solves a group of columns as one long vector, so that BiCGSTAB (van der Vorst 1992) costs few
calls. Columns that do not reach the tolerance resume with closer factors.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.imputation.linear_system import System
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.pool import Pool

CONVERGED = 1e-10  # ‖r‖ / ‖b‖ that is accepted
_GOAL = 1e-12  # ‖r‖ / ‖b‖ at which iterations stop
_DIRECT = 1_000  # unknowns up to which complete factors are faster
_LAST_RESORT = 20_000  # unknowns up to which complete factors are tried where iterations fail
_COMPLETE = 0.0
# Entries below these shares of their column's length are left out, and the maximum iterations for a
# group: closer factors are soon worth their cost.
_DROPPED = {5e-2: 25, 1e-2: 100, 1e-3: 200}
_WIDTH, _NUMBERS = 8, 1 << 22  # most columns of a group, most numbers in each of its arrays
_ARRAYS, _WORK = 15, 1 << 30  # arrays of a group; bytes of all groups, exceeded if needed for two


class _StoppedError(Exception):
    """Nobody waits for the group any more."""


class ExactSolver:
    """(I − W_qq) Y_q = W_qp Y_p for anchors Y_p (p × K).

    vectors (q × K): Y_q; iterations, residuals (K): of each column, ‖r‖ / ‖b‖; solver: "lu" if
    complete factors were used, else "bicgstab".
    """

    def __init__(self, system: System, anchors: Float64) -> None:
        from scipy.sparse import eye_array

        q, K = len(system.order), anchors.shape[1]
        self._system, self._anchors = system, anchors
        self._matrix = (eye_array(q, format="csr") - system.inner).tocsr()
        self._stopped = threading.Event()  # Ctrl-C stops groups after the current iteration
        self.vectors = np.tile(anchors.mean(axis=0), (q, 1))
        self.iterations, self.residuals = np.zeros(K, np.int64), np.full(K, np.inf)
        self.solver = "bicgstab"

    def solve(self, pool: Pool) -> Iterator[int]:
        """Solve all columns; yield the number of those that have newly converged."""
        q = len(self.vectors)
        incomplete = () if q <= _DIRECT else tuple(_DROPPED)
        complete = (_COMPLETE,) if q <= _LAST_RESORT else ()
        try:
            for share in (*incomplete, *complete):
                left = np.flatnonzero(self.residuals > CONVERGED)
                if len(left):
                    yield from self._improve_all(left, share, pool)
        finally:
            self._stopped.set()

    def _improve_all(self, columns: Int64, share: float, pool: Pool) -> Iterator[int]:
        """Improve columns with the factors that drop entries below a share."""
        q = len(self.vectors)
        width = min(_WIDTH, max(1, _NUMBERS // q))
        ahead = min(2 * pool.threads, max(1, _WORK // (_ARRAYS * width * 8 * q) - 1))
        groups = [columns[first : first + width] for first in range(0, len(columns), width)]
        if share == _COMPLETE:
            self.solver = "lu"
        factors = pool.call(lambda: self._factorise(share))
        with one_thread():
            for group in pool.map(
                lambda group: self._improve(group, factors, share), groups, ahead
            ):
                yield int(np.count_nonzero(self.residuals[group] <= CONVERGED))

    def _factorise(self, share: float) -> Any:
        """Return SciPy's LU factors; as for a symmetric matrix, since none needs pivots."""
        from scipy.sparse.linalg import spilu, splu

        matrix, options = self._matrix.tocsc(), {"SymmetricMode": True}
        if share == _COMPLETE:
            return splu(matrix, "MMD_AT_PLUS_A", 0.0, options=options)
        return spilu(
            matrix, share, drop_rule="basic", permc_spec="NATURAL", diag_pivot_thresh=0.0,
            options=options,
        )  # fmt: skip

    def _improve(self, columns: Int64, factors: Any, share: float) -> Int64:
        """Solve a group of columns from where they are; return it."""
        places = np.ix_(self._system.order, columns)
        right = self._system.outer @ self._anchors[:, columns]
        lengths = _lengths(right)
        scale = np.where(lengths > 0, lengths, 1.0)  # gives all columns of a group the same weight
        right /= scale
        start = self.vectors[places] / scale
        before = _lengths(right - self._matrix @ start)
        start[:, before >= lengths / scale] = 0.0
        if share == _COMPLETE:
            found, steps = factors.solve(right), 0
        else:
            found, steps = self._iterate(factors, right, start, _DROPPED[share])
        after = _lengths(right - self._matrix @ found)
        better = after < before
        self.vectors[places] = np.where(better, found * scale, self.vectors[places])
        self.residuals[columns] = np.where(better, after, before)
        self.iterations[columns] += steps
        return columns

    def _iterate(
        self, factors: Any, right: Float64, start: Float64, most: int
    ) -> tuple[Float64, int]:
        """Return the solution of all columns (q × k) as one vector, and the iterations."""
        from scipy.sparse.linalg import LinearOperator, bicgstab

        steps = 0

        def step(_: Float64) -> None:
            nonlocal steps
            steps += 1
            if self._stopped.is_set():
                raise _StoppedError

        matrix, inverse = (
            LinearOperator(
                (right.size, right.size), lambda x, f=f: f(x.reshape(right.shape)).ravel(),
                dtype=right.dtype,
            )
            for f in (self._matrix.__matmul__, factors.solve)
        )  # fmt: skip
        found, _ = bicgstab(
            matrix, right.ravel(), start.ravel(), rtol=0.0, atol=_GOAL, maxiter=most,
            M=inverse, callback=step,
        )  # fmt: skip
        return found.reshape(right.shape), steps


def _lengths(columns: Float64) -> Float64:
    return np.asarray(np.sqrt(np.einsum("rc,rc->c", columns, columns)))
