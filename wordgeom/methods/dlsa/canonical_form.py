"""The canonical form of a fit, and word trajectories freed of changes of basis.

A C and C⁻¹ B_k fit as well as A and B_k for any C in GL(r). `canonical` returns the form of
Theorem 4 (Carrington 2021, §5.3.1), A B_0 = U Σ Vᵀ with A = U Σ and B_0 = Vᵀ. It changes the fitted
X̂ only by rounding errors.

A second freedom holds to first order only, and is why sweeps converge slowly. For any E (r × r),
words (I + p(t) E) B(t) and documents a (I + p(t) E)⁻¹ fit almost as well, so the part of B_k in the
row space of B_0 is almost arbitrary. It moves all words alike, as a change of basis does (§5.1),
and grows with the number of sweeps. `aligned` removes it: B_k − E_k B_0, with
E_k = B_k B_0ᵀ (B_0 B_0ᵀ)⁻¹, is orthogonal to the rows of B_0. Because this preserves X̂ to first
order only, a model stores the B_k as fitted and aligns them to compare times. Words that may not
move fix the basis: E_k must not move them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.errors import RankError
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.signs import fix_signs

_ROUNDING = 1e-12  # eigenvalues of a Gram matrix below this fraction of the largest
_UNSPANNED = 1e-8  # the same, for directions that fixed words do not span


def canonical(A: Array, B: list[Array]) -> tuple[Array, list[Array]]:
    """Return A C (n × r) and the transposed C⁻¹ B_k (p × r) in the form of Theorem 4.

    Columns are in order of Σ. The entry of largest magnitude in each row of B_0 is positive. Raises
    RankError if the fit lost a dimension.
    """
    with one_thread():
        values, axes = np.linalg.eigh(_gram(B[0], B[0]))
        if values[0] <= _ROUNDING * values[-1]:
            rank = int(np.count_nonzero(values > _ROUNDING * values[-1]))
            what = f"only {rank} of {len(values)} dimensions are left after the sweeps"
            raise RankError(what, do=f"lower --dim to {rank}")
        root, inverse = ((axes * values**power) @ axes.T for power in (0.5, -0.5))
        _, rotation = np.linalg.eigh(root @ _gram(A, A) @ root)
        rotation = rotation[:, ::-1]  # Σ descending
        words = [Bk.astype(np.float64) @ (inverse @ rotation) for Bk in B]
        signs = np.where(np.sum(fix_signs(words[0]) * words[0], axis=0) < 0.0, -1.0, 1.0)
        documents = A.astype(np.float64) @ (root @ rotation * signs)
    return documents.astype(A.dtype), [(Bk * signs).astype(A.dtype) for Bk in words]


def aligned(coefficients: Array, moving: NDArray[np.bool_]) -> Array:
    """Return B_0 and the B_k without changes of basis (q + 1 × r × p).

    coefficients (q + 1 × r × p): B_0 … B_q; moving (p): words that may move.
    """
    with one_thread():
        first = coefficients[0].astype(np.float64)
        free = _free_axes(first[:, ~moving])
        projected = free.T @ first
        inverse = np.linalg.pinv(projected @ projected.T, rcond=_ROUNDING, hermitian=True)
        result = coefficients.copy()
        for Bk in result[1:]:
            E = (Bk @ projected.T) @ inverse @ free.T
            Bk -= E @ first
        return result


def _free_axes(fixed: Float64) -> Float64:
    """Return an orthonormal basis (r × d) of the complement of the span of fixed words (r × s)."""
    if not fixed.shape[1]:
        return np.eye(len(fixed))
    values, axes = np.linalg.eigh(fixed @ fixed.T)
    return axes[:, values <= _UNSPANNED * values[-1]]


def _gram(one: Array, other: Array) -> Float64:
    return one.astype(np.float64).T @ other.astype(np.float64)
