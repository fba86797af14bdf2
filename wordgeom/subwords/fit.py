"""Vectors of n-grams: ridge regression of the directions of words on the n-grams in them.

With the share a_wg of n-gram g in word w and the direction x_w of the word's vector, the vectors
z_g of n-grams minimise Σ_w β_w ‖x_w − Σ_g a_wg z_g‖² + Σ_g λ_g ‖z_g‖². Directions are fitted
instead of vectors, so that long vectors do not decide alone. The weight β_w falls with the rank of
a word, since vectors of rare words are noisy. The columns of x are independent problems of one
matrix, solved by conjugate gradients, a block of columns at a time.

They are solved twice. The ridges λ_g are all λ at first, and then those that the n-grams show to be
right: a step of expectation maximisation (automatic relevance determination; Tipping, 2001).
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
    ridge: λ, the harmonic mean of all λ_g.
    """
    ngrams = np.zeros((shares.columns, vectors.vectors.shape[1]), np.float32)
    equations = _NormalEquations(shares, vectors, weights, context)
    equations.solve(ngrams, np.full(len(ngrams), ridge), "n-grams, first fit")
    ridges = relevance_ridges(row_norms(ngrams) ** 2, equations.squares, ridge)
    equations.solve(ngrams, ridges, "n-grams, second fit")
    return ngrams


class _NormalEquations:
    """The equations (Aᵀ B A + diag λ) Z = Aᵀ B X of the fit.

    squares (N): the diagonal of Aᵀ B A, Σ_w β_w a_wg².
    """

    def __init__(self, shares: Csr, vectors: Mapped, weights: Float64, context: Context) -> None:
        roots, own = np.sqrt(weights), vectors.norms()
        self._vectors, self._progress = vectors, context.progress
        self._factors = np.divide(roots, own, out=np.zeros(len(own)), where=own > 0)[:, None]
        weighted = _with_rows_scaled(shares, roots)
        operator = context.ops.operator
        self._forth, self._back = operator(weighted), operator(transpose(weighted))
        self.squares = np.zeros(shares.columns)
        np.add.at(self.squares, weighted.indices, weighted.data.astype(np.float64) ** 2)

    def solve(self, ngrams: Float32, ridges: Float64, name: str) -> None:
        """Replace the vectors (N × K) of n-grams by the solution for the ridges (N), from them."""
        N, K = ngrams.shape
        penalties = ridges.astype(np.float32)[:, None]

        def multiply(x: Float32) -> Float32:
            made: Float32 = self._back.multiply(self._forth.multiply(x))
            made += penalties * x
            return made

        starts, solve = range(0, K, _width(N)), conjugate_gradients.solve
        follow = self._progress.follow
        for start in follow(iter(starts), name, len(starts), "blocks", lambda _: 1):
            block = slice(start, min(start + _width(N), K))
            directions = self._vectors.columns(block) * self._factors  # √β_w x_w
            right = self._back.multiply(directions.astype(np.float32))
            diagonal, given = self.squares + ridges, ngrams[:, block]
            given[:] = solve(multiply, diagonal, right, tol=_TOL, most=_STEPS, start=given)


def relevance_ridges(sizes: Float64, squares: Float64, ridge: float) -> Float64:
    """Return the ridges λ_g (N) of n-grams that were fitted with the ridge λ, their harmonic mean.

    sizes (N): ‖z_g‖²; squares (N): d_g = Σ_w β_w a_wg². The model is x_w = Σ_g a_wg z_g plus noise
    of variance σ²/β_w, with z_g of variance τ_g in each of K dimensions, and λ_g = σ²/τ_g. The new
    τ_g is ‖z_g‖²/K plus the variance that the data leave, σ²/(d_g + λ) by the diagonal. With γ_g =
    d_g/(d_g + λ), the share that the data determine, and σ² such that the mean of τ_g is σ²/λ, that
    is λ_g = λ / (1 − γ_g + ‖z_g‖² Σγ / Σ‖z‖²).
    """
    left = ridge / (squares + ridge)  # 1 − γ_g
    total = sizes.sum()
    if total == 0.0:
        return np.full(len(sizes), ridge)
    determined = float((squares * left / ridge).sum())  # Σ γ
    ridges: Float64 = ridge / (left + sizes * (determined / total))
    return ridges


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
