"""Vectors of n-grams: ridge regression of the directions of words on the n-grams in them.

With the share a_wg of n-gram g in word w and the direction x_w of the word's vector, the vectors
z_g of n-grams minimise Σ_w β_w ‖x_w − Σ_g a_wg z_g‖² + λ Σ_g ‖z_g‖². Directions are fitted instead
of vectors, so that long vectors do not decide alone. The weight β_w falls with the rank of a word,
since vectors of rare words are noisy. The columns of x are independent problems of one matrix,
solved by conjugate gradients, a block of columns at a time.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Csr, Float32, Float64
from wordgeom.linalg.svd import transpose
from wordgeom.optim import conjugate_gradients
from wordgeom.runtime.context import Context
from wordgeom.subwords.spectrum import Mapped
from wordgeom.vectors.norms import row_norms

_COPIES = 8  # arrays of a block in conjugate gradients
_WIDE, _NARROW, _MANY = 64, 16, 1 << 18  # columns of a block, and n-grams from which it is narrow
_TOL, _STEPS = 1e-2, 50


def word_weights(vectors: Float32, half_rank: float) -> Float64:
    """Return the weights (V) of words in the fit, 0 for zero vectors.

    vectors (V × K), in the order of the words' frequency; half_rank: the rank, as a share of V, of
    the word that weighs half as much as the first, or 0 for equal weights.
    """
    count = len(vectors)
    with np.errstate(over="ignore"):  # a rank beyond float64 has weight 0
        ranks = np.arange(count) / (half_rank * count) if half_rank else np.zeros(count)
    return np.where(row_norms(vectors) > 0, 1.0 / (1.0 + ranks), 0.0)


def fit_ngrams(
    shares: Csr, vectors: Mapped, weights: Float64, ridge: float, context: Context
) -> Float32:
    """Return the vectors (N × K) of n-grams.

    shares (V × N) float32: a_wg; vectors (V × K), whose directions are the x_w; weights (V): β_w;
    ridge: λ.
    """
    N, K = shares.columns, vectors.vectors.shape[1]
    roots, own = np.sqrt(weights), vectors.norms()
    factors = np.divide(roots, own, out=np.zeros(len(own)), where=own > 0)
    weighted = _with_rows_scaled(shares, roots)
    forth, back = (context.ops.operator(each) for each in (weighted, transpose(weighted)))
    squares = np.zeros(N)
    np.add.at(squares, weighted.indices, weighted.data.astype(np.float64) ** 2)
    diagonal = squares + ridge

    def multiply(x: Float32) -> Float32:
        made: Float32 = back.multiply(forth.multiply(x))
        made += np.float32(ridge) * x
        return made

    ngrams = np.empty((N, K), np.float32)
    width = _width(N)
    starts = range(0, K, width)
    for start in context.progress.follow(
        iter(starts), "n-grams", len(starts), "blocks", lambda _: 1
    ):
        block = slice(start, min(start + width, K))
        directions = (vectors.columns(block) * factors[:, None]).astype(np.float32)  # √β_w x_w
        right = back.multiply(directions)
        solve = conjugate_gradients.solve
        ngrams[:, block] = solve(multiply, diagonal, right, tol=_TOL, most=_STEPS)
    return ngrams


def _with_rows_scaled(matrix: Csr, factors: Float64) -> Csr:
    """Return a matrix whose rows are multiplied by factors."""
    data = (matrix.data * np.repeat(factors, np.diff(matrix.indptr))).astype(np.float32)
    return Csr(matrix.indptr, matrix.indices, data, matrix.columns)


def working_bytes(words: int, ngrams: int) -> int:
    """Return the bytes of a block of columns."""
    return 4 * _COPIES * _width(ngrams) * (words + ngrams)


def _width(ngrams: int) -> int:
    """Return the columns of a block, which the data alone decide, and with them the bytes."""
    return _NARROW if ngrams > _MANY else _WIDE
