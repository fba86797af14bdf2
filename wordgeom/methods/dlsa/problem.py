"""What dynamic LSA is fitted to: documents freed of their mean or trend, which stays implicit.

With F = [1, p_1(t), …, p_q(t)] over the documents and orthonormal effects G, 1/√n alone
(`--trend free`) or all of F/√n (`hold`: a word that merely becomes more frequent does not move),

    J(A, B) = ‖X − G M − Σ_k diag(F_k) A B_k‖²,  M = GᵀX.

X − G M is dense and never formed: its products are those of X less those of G M.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.ops import Operator, Ops
from wordgeom.core.types import Csr, Float64, Int64
from wordgeom.linalg.svd import transpose

HOLD, FREE = "hold", "free"
_CONSTANT = 1e-12  # of a column's squared norm: what is left of a constant one is rounding
_BLOCK = 1 << 22  # entries squared at once


@dataclass(frozen=True)
class Problem:
    """X (n × p) by its products, and what belongs to it.

    basis F (n × (q + 1)); effects G (n × c); means M (c × p); squares (p): of the columns of
    X − G M, 0 where they are rounding; moving (p): words whose B_k may be other than 0 for k > 0.
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
        """The documents ordered by time (n), and where each distinct time begins in them (T + 1).

        Documents of one time have one row of F, and so share a system of equations.
        """
        time = self.basis[:, 1]
        order = np.argsort(time, kind="stable")
        starts = np.flatnonzero(np.diff(time[order], prepend=-np.inf))
        return order.astype(np.int64), np.append(starts, len(order)).astype(np.int64)


def effects_of(polynomials: Float64, trend: str) -> Float64:
    """Return G, orthonormal (n × c), of the polynomials' values (n × q)."""
    basis = with_one(polynomials)
    kept = basis if trend == HOLD else basis[:, :1]
    return np.asarray(kept / np.sqrt(len(basis)))


def with_one(polynomials: Float64) -> Float64:
    """Return F (n × (q + 1)): 1 beside the polynomials' values (n × q)."""
    return np.concatenate((np.ones((len(polynomials), 1)), polynomials), axis=1)


def pose(X: Csr, polynomials: Float64, trend: str, moving: NDArray[np.bool_], ops: Ops) -> Problem:
    """Return the problem of X (n × p), its documents' polynomials (n × q) given.

    Holds X twice, by rows and by columns: 8 bytes an entry each.
    """
    effects = effects_of(polynomials, trend)
    transposed = ops.operator(transpose(X))
    means = ops.to_numpy(transposed.multiply(ops.tall(effects, np.float64))).T
    squares = _squares(X)
    left = squares - np.sum(means * means, axis=0)
    left[left <= _CONSTANT * squares] = 0.0
    operator = ops.operator(X)
    return Problem(operator, transposed, with_one(polynomials), effects, means, left, moving)


def _squares(X: Csr) -> Float64:
    """Return the squared norm of each column (p)."""
    found = np.zeros(X.columns)
    for start in range(0, X.nnz, _BLOCK):
        part = slice(start, start + _BLOCK)
        found += np.bincount(
            X.indices[part], np.square(X.data[part], dtype=np.float64), minlength=X.columns
        )
    return found
