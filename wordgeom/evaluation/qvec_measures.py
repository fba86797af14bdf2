"""Agreement of word vectors with linguistic features of words: QVEC and QVEC-CCA.

x_k are the K columns of the vectors, s_j the P columns of the features.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.vectors.nearest import unit_vectors

_RANK = 1e-6  # of the largest singular value; smaller ones are float32 rounding


def qvec(vectors: Array, features: Array) -> float:
    """Return Σ_k max_j r(x_k, s_j) for vectors (n × K) and features (n × P); nan if n < 2.

    r is Pearson's correlation with its sign, so a column whose best correlation is negative lowers
    the sum. A constant column has correlation 0. The sum grows with K and changes under rotation:
    compare vectors of the same dimension only (Tsvetkov, Faruqui, Ling, Lample and Dyer 2015, §2;
    vectors are not normalised, as in their program).
    """
    if len(vectors) < 2 or not features.shape[1]:
        return np.nan
    with one_thread():
        correlations = _standardised(vectors).T @ _standardised(features)
    return float(correlations.max(axis=1).sum())


def qvec_cca(vectors: Array, features: Array) -> float:
    """Return the first canonical correlation of vectors (n × K) and features (n × P).

    The maximum of r(Xv, Sw) over v and w, invariant under invertible linear maps of the vectors
    (Tsvetkov, Faruqui and Dyer 2016, §3). nan if one side is constant or the words are too few
    (`underdetermined`); close to 1 for any vectors unless n is well above K + P.
    """
    correlations = _canonical(vectors, features)
    return float(correlations[0]) if len(correlations) else np.nan


def qvec_cca_mean(vectors: Array, features: Array) -> float:
    """Return the mean of all canonical correlations, with rows of both sides normalised.

    The program of Tsvetkov, Faruqui and Dyer (2016) prints this number; Khalife, Gonçalves and
    Liberti (2022), Table 5, multiply it by 100 and call it QVEC. Random vectors with 100, 200 and
    300 dimensions reach .149, .213 and .265, as there. nan where `qvec_cca` is.
    """
    correlations = _canonical(unit_vectors(vectors), unit_vectors(features))
    return float(correlations.mean()) if len(correlations) else np.nan


def ranks(vectors: Array, features: Array) -> int:
    """Return rank(vectors) + rank(features), both centred; n words allow n − 1 dimensions."""
    return sum(int(basis.shape[1]) for basis in _bases(vectors, features))


def underdetermined(vectors: Array, features: Array) -> bool:
    """Return whether both sides together span all n − 1 dimensions, so that any vectors agree."""
    units = unit_vectors(vectors), unit_vectors(features)  # as in both QVEC-CCA measures
    return max(ranks(*pair) for pair in ((vectors, features), units)) >= len(vectors) - 1


def _canonical(vectors: Array, features: Array) -> Float64:
    """Return the canonical correlations, descending, as many as the smaller of both ranks.

    Empty if one side is constant, or if the ranks add up to n − 1 or more.
    """
    x, s = _bases(vectors, features)
    if not x.shape[1] or not s.shape[1] or x.shape[1] + s.shape[1] >= len(vectors) - 1:
        return np.empty(0)
    with one_thread():
        return np.asarray(np.minimum(np.linalg.svd(x.T @ s, compute_uv=False), 1.0))


def _bases(vectors: Array, features: Array) -> tuple[Float64, Float64]:
    """Return orthonormal bases (min(n, K + P) × rank) of both sides' centred columns.

    As in Björck and Golub (1973), in the coordinates of one QR decomposition of both sides: only R
    is computed, whose size does not depend on n.
    """
    if len(vectors) < 2:
        return np.empty((0, 0)), np.empty((0, 0))
    both = np.hstack([_standardised(vectors), _standardised(features)])
    with one_thread():
        R: Float64 = np.asarray(np.linalg.qr(both, mode="r"))
        k = vectors.shape[1]
        return _basis(R[:, :k]), _basis(R[:, k:])


def _basis(columns: Float64) -> Float64:
    """Return an orthonormal basis of columns; relative singular values below 1e-6 are dropped."""
    left, sizes, _ = np.linalg.svd(columns, full_matrices=False)
    return np.asarray(left[:, sizes > _RANK * max(sizes.max(initial=0), 1e-300)])


def _standardised(columns: Array) -> Float64:
    """Return columns centred and normalised; constant columns become zero."""
    columns = columns.astype(np.float64)
    scale = np.abs(columns).max(axis=0)
    # Squares neither overflow nor underflow, and a constant column is exactly its mean.
    columns /= np.where(scale > 0, scale, 1)
    centred = columns - columns.mean(axis=0)
    lengths = np.sqrt(np.einsum("ij,ij->j", centred, centred))
    return np.asarray(centred / np.where(lengths > 0, lengths, 1))
