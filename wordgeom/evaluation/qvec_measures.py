"""How well vectors line up with features that people gave to words: QVEC and QVEC-CCA.

x_k are the K columns of the words' vectors, s_j the P columns of their features.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np

from wordgeom.core.types import Array, Float64

_RANK = 1e-6  # of the largest singular value; what is below is the rounding of float32


def qvec(vectors: Array, features: Array) -> float:
    """Return Σ_k max_j r(x_k, s_j) for vectors (n × K) and features (n × P); nan where n < 2.

    r is Pearson's correlation, signed: a column whose best correlation is below 0 takes away. A
    constant column on either side has correlation 0 with all. The sum grows with K, so that only
    vectors of one dimension compare, and it changes when they are turned (Tsvetkov, Faruqui,
    Ling, Lample and Dyer 2015, §2; values as they are in the file, as their program takes them).
    """
    if len(vectors) < 2 or not features.shape[1]:
        return np.nan
    with _one_thread():
        correlations = _standardised(vectors).T @ _standardised(features)
    return float(correlations.max(axis=1).sum())


def qvec_cca(vectors: Array, features: Array) -> float:
    """Return the first canonical correlation of vectors (n × K) and features (n × P).

    That is max r(Xv, Sw) over v and w, the same for all invertible linear maps of the vectors
    (Tsvetkov, Faruqui and Dyer 2016, §3). nan where one side is constant or the words are too
    few (`underdetermined`); near 1 for any vectors where n is not well above K + P.
    """
    found = _canonical(vectors, features)
    return float(found[0]) if len(found) else np.nan


def qvec_cca_mean(vectors: Array, features: Array) -> float:
    """Return the mean of all canonical correlations, rows of both sides at length 1 first.

    What the program of Tsvetkov, Faruqui and Dyer (2016) prints, and, times 100, what Khalife,
    Gonçalves and Liberti (2022), Table 5, call QVEC: random vectors of 100, 200 and 300
    dimensions come to .149, .213 and .265 there too. nan where one side is constant or the words
    are too few.
    """
    found = _canonical(_unit(vectors), _unit(features))
    return float(found.mean()) if len(found) else np.nan


def ranks(vectors: Array, features: Array) -> int:
    """Return rank(vectors) + rank(features), centred; n − 1 is all that n words have room for."""
    return sum(int(basis.shape[1]) for basis in _bases(vectors, features))


def underdetermined(vectors: Array, features: Array) -> bool:
    """Return whether both sides together fill all room: any vectors would then agree with any."""
    sides = ((vectors, features), (_unit(vectors), _unit(features)))  # as both figures take them
    return max(ranks(*pair) for pair in sides) >= len(vectors) - 1


def _canonical(vectors: Array, features: Array) -> Float64:
    """Return the canonical correlations, descending, as many as the lower of both ranks.

    There are none where one side is constant, or where the ranks add up to n − 1 or more.
    """
    x, s = _bases(vectors, features)
    if not x.shape[1] or not s.shape[1] or x.shape[1] + s.shape[1] >= len(vectors) - 1:
        return np.empty(0)
    with _one_thread():
        return np.asarray(np.minimum(np.linalg.svd(x.T @ s, compute_uv=False), 1.0))


def _bases(vectors: Array, features: Array) -> tuple[Float64, Float64]:
    """Return orthonormal bases (min(n, K + P) × rank) of both sides' centred columns.

    As Björck and Golub (1973), but turned by one QR decomposition of both sides, of which only
    R is needed: n is left behind at once.
    """
    if len(vectors) < 2:
        return np.empty((0, 0)), np.empty((0, 0))
    both = np.hstack([_standardised(vectors), _standardised(features)])
    with _one_thread():
        turned: Float64 = np.asarray(np.linalg.qr(both, mode="r"))
        k = vectors.shape[1]
        return _basis(turned[:, :k]), _basis(turned[:, k:])


def _basis(columns: Float64) -> Float64:
    """Return an orthonormal basis of columns, without directions of a relative size below 1e-6."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > _RANK * max(sizes.max(initial=0), 1e-300)])


def _one_thread() -> AbstractContextManager[object]:
    from threadpoolctl import threadpool_limits

    # The order of a threaded BLAS's additions depends on the number of threads.
    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits


def _unit(rows: Array) -> Float64:
    """Return rows (n × K) at length 1, zeros where they are zero."""
    wide = rows.astype(np.float64)
    lengths = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    return np.asarray(wide / np.where(lengths > 0, lengths, 1)[:, None])


def _standardised(columns: Array) -> Float64:
    """Return the columns centred and of length 1, or of zeros where they are constant."""
    columns = columns.astype(np.float64)
    scale = np.abs(columns).max(axis=0)
    # Squares neither overflow nor vanish, and a constant column is exactly its mean.
    columns /= np.where(scale > 0, scale, 1)
    centred = columns - columns.mean(axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    return np.asarray(centred / np.where(lengths > 0, lengths, 1))
