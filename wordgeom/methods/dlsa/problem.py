"""The least-squares problem of dynamic LSA, with means or trends removed implicitly.

With the design matrix F = [1, p_1(t), …, p_q(t)] over the documents, and orthonormal effects G,
which are 1/√n (`--trend free`) or F/√n (`hold`: a change of frequency alone moves no word),

    J(A, B) = ‖X − G M − Σ_k diag(F_k) A B_k‖²,  M = GᵀX.

X − G M is dense and never formed: its products are the products of X minus those of G M.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.ops import Operator, Ops
from wordgeom.core.types import Csr, Float64, Int64

HOLD, FREE = "hold", "free"
_CONSTANT = 1e-12  # fraction of a column's squared norm; less after removing G M is rounding error
_BLOCK = 1 << 22  # entries squared at a time


@dataclass(frozen=True)
class Problem:
    """Products of X (n × p) and Xᵀ, with the design and the effects.

    basis F (n × (q + 1)); effects G (n × c); means M (c × p); squares (p): squared norms of the
    columns of X − G M, 0 if they are rounding errors; moving (p): words whose B_k for k > 0 may
    differ from 0.
    """

    matrix: Operator
    transposed: Operator
    basis: Float64
    effects: Float64
    means: Float64
    squares: Float64
    moving: NDArray[np.bool_]

    @property
    def total(self) -> float:
        """‖X − G M‖²."""
        return float(self.squares.sum())

    @cached_property
    def by_time(self) -> tuple[Int64, Int64]:
        """Documents in order of time (n), and the start of each distinct time among them (T + 1).

        Documents of the same time have the same row of F and share a system of equations.
        """
        time = self.basis[:, 1]
        order = np.argsort(time, kind="stable")
        starts = np.flatnonzero(np.diff(time[order], prepend=-np.inf))
        return order.astype(np.int64), np.append(starts, len(order)).astype(np.int64)


def trend_effects(polynomials: Float64, trend: str) -> Float64:
    """Return G, orthonormal (n × c), from the values of the polynomials (n × q)."""
    F = design_matrix(polynomials)
    columns = F if trend == HOLD else F[:, :1]
    return np.asarray(columns / np.sqrt(len(F)))


def design_matrix(polynomials: Float64) -> Float64:
    """Return F (n × (q + 1)): a column of 1 and the values of the polynomials (n × q)."""
    return np.concatenate((np.ones((len(polynomials), 1)), polynomials), axis=1)


def make_problem(
    X: Csr, polynomials: Float64, trend: str, moving: NDArray[np.bool_], ops: Ops
) -> Problem:
    """Return the problem of X (n × p) and the polynomials of its documents (n × q).

    X is stored by rows and by columns, at 8 bytes per entry each.
    """
    from wordgeom.linalg.svd import transpose  # `--help` reads FREE and HOLD

    effects = trend_effects(polynomials, trend)
    transposed = ops.operator(transpose(X))
    means = ops.to_numpy(transposed.multiply(ops.tall(effects, np.float64))).T
    squares = _squared_norms(X)
    residual = squares - np.sum(means * means, axis=0)
    residual[residual <= _CONSTANT * squares] = 0.0
    design = design_matrix(polynomials)
    return Problem(ops.operator(X), transposed, design, effects, means, residual, moving)


def _squared_norms(X: Csr) -> Float64:
    """Return the squared norms of the columns (p)."""
    norms = np.zeros(X.columns)
    for start in range(0, X.nnz, _BLOCK):
        part = slice(start, start + _BLOCK)
        norms += np.bincount(
            X.indices[part], np.square(X.data[part], dtype=np.float64), minlength=X.columns
        )
    return norms
