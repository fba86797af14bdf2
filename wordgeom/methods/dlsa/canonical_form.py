"""One of the many forms that a fit has, and what of a word's way is not a mere change of basis.

A C and C⁻¹ B_k fit as A and B_k do, for any C in GL(r). The form of Theorem 4 (carrington, §5.3.1)
is A B_0 = U Σ Vᵀ with A = U Σ and B_0 = Vᵀ; `canonical` brings it about and changes X̂ by rounding
alone.

That leaves a freedom that is not exact, and why sweeps hardly end: with E (r × r), the words
(I + p(t) E) B(t) and documents a (I + p(t) E)⁻¹ fit as well to first order, so that the part of
B_k in the row space of B_0 is all but arbitrary. It moves all words in one way, as a change of
basis does (§5.1), and grows with the sweeps. `aligned` takes it away: B_k − E_k B_0 with
E_k = B_k B_0ᵀ (B_0 B_0ᵀ)⁻¹, what is left being orthogonal to the rows of B_0. X̂ is kept to first
order only, so that a model keeps the B_k as they were fitted, and aligns where words are compared.
Words that may not move fix the basis: E_k must leave them where they are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.errors import RankError
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.signs import fix_signs

_LOST = 1e-12  # of an eigenvalue of a Gram matrix against its largest: rounding
_PINNED = 1e-8


def canonical(A: Array, B: list[Array]) -> tuple[Array, list[Array]]:
    """Return A C (n × r) and the transposed C⁻¹ B_k (p × r) in the form of Theorem 4.

    Columns stand in order of Σ; of each row of B_0 the entry of largest magnitude is positive.
    Raises RankError where the fit lost a dimension.
    """
    with one_thread():
        sizes, axes = np.linalg.eigh(_gram(B[0], B[0]))
        if sizes[0] <= _LOST * sizes[-1]:
            r = len(sizes)
            rank = int(np.count_nonzero(sizes > _LOST * sizes[-1]))
            what = f"the sweeps left {rank} of {r} dimensions"
            raise RankError(what, do=f"lower --dim to {rank}")
        root, inverse = ((axes * sizes**power) @ axes.T for power in (0.5, -0.5))
        _, turn = np.linalg.eigh(root @ _gram(A, A) @ root)
        turn = turn[:, ::-1]  # Σ descending
        words = [one.astype(np.float64) @ (inverse @ turn) for one in B]
        signs = np.where(np.sum(fix_signs(words[0]) * words[0], axis=0) < 0.0, -1.0, 1.0)
        documents = A.astype(np.float64) @ (root @ turn * signs)
    return documents.astype(A.dtype), [(one * signs).astype(A.dtype) for one in words]


def aligned(coefficients: Array, moving: NDArray[np.bool_]) -> Array:
    """Return B_0 and the B_k freed of what a change of basis may be, (q + 1 × r × p).

    coefficients: B_0 … B_q; moving (p): words that may move.
    """
    with one_thread():
        first = coefficients[0].astype(np.float64)
        free = _free_axes(first[:, ~moving])
        there = free.T @ first
        inverse = np.linalg.pinv(there @ there.T, rcond=_LOST, hermitian=True)
        made = coefficients.copy()
        for one in made[1:]:
            turn = (one @ there.T) @ inverse @ free.T
            one -= turn @ first
        return made


def _free_axes(still: Float64) -> Float64:
    """Return an orthonormal basis (r × d) of what words that stay (r × s) do not span."""
    if not still.shape[1]:
        return np.eye(len(still))
    sizes, axes = np.linalg.eigh(still @ still.T)
    return axes[:, sizes <= _PINNED * sizes[-1]]


def _gram(one: Array, other: Array) -> Float64:
    return one.astype(np.float64).T @ other.astype(np.float64)
