"""Orthonormal columns: V becomes Q of V = Q R (Carrington 2021, §3.4.1).

R is the Cholesky factor of VᵀV, computed in float64 over two passes, the second on Q itself
(CholeskyQR2; Yamamoto et al. 2015). Columns that depend on earlier ones are dropped.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.transforms.canonical import rank_notes
from wordgeom.transforms.space import Space, Step

_DEPENDENT = 1e-10  # squared relative distance of a column from the span of earlier ones


def orthonormal(space: Space) -> Step:
    """Return Q, (V × K) with zero columns at the end for those that were dropped."""
    K = space.columns
    moments = space.moments()
    kept, R = _triangle(moments.products)
    A = np.zeros((K, len(kept)))
    A[kept] = np.linalg.inv(R)
    first = space.mapped(A)
    _, again = _triangle(first.moments().products)
    padded = np.zeros((len(kept), K))
    padded[:, : len(kept)] = np.linalg.inv(again)
    facts = {"effective_rank": len(kept)}
    return Step(first.mapped(padded), facts, rank_notes(len(kept), K))


def _triangle(G: Float64) -> tuple[Int64, Float64]:
    """Return the independent columns (r) and the upper triangular R (r × r), RᵀR = G on them."""
    lengths = np.sqrt(np.diag(G))
    scale = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0.0)
    rest, R = G * np.outer(scale, scale), np.zeros_like(G)
    kept = []
    for k in range(len(G)):
        pivot = float(rest[k, k])
        if pivot <= _DEPENDENT:
            continue
        R[k, k:] = rest[k, k:] / np.sqrt(pivot)
        rest[k:, k:] -= np.outer(R[k, k:], R[k, k:])
        kept.append(k)
    chosen = np.array(kept, np.int64)
    return chosen, R[np.ix_(chosen, chosen)] * lengths[chosen]
