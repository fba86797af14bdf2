"""Vectors of n-grams: ridge regression of the directions of words on the n-grams in them.

With the share a_wg of n-gram g in word w and the direction x_w of the word's vector, the vectors
z_g of n-grams minimise Σ_w ‖x_w − Σ_g a_wg z_g‖² + λ Σ_g ‖z_g‖². Directions are fitted instead of
vectors, so that long vectors do not decide alone. The columns of x are independent problems of one
matrix, solved by conjugate gradients, a block of columns at a time.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Csr, Float32, Float64
from wordgeom.linalg.svd import transpose
from wordgeom.optim import conjugate_gradients
from wordgeom.runtime.context import Context

_COPIES = 8  # arrays of a block in conjugate gradients
_WIDE, _NARROW, _MANY = 32, 8, 1 << 18  # columns of a block, and n-grams from which it is narrow
_TOL, _STEPS = 1e-2, 50


def fit_ngrams(shares: Csr, directions: Float32, ridge: float, context: Context) -> Float32:
    """Return the vectors (N × K) of n-grams.

    shares (V × N) float32: a_wg; directions (V × K): x_w, 0 for words that are left out, whose
    shares must be 0 too; ridge: λ.
    """
    N, K = shares.columns, directions.shape[1]
    forth, back = (context.ops.operator(each) for each in (shares, transpose(shares)))
    squares = np.zeros(N)
    np.add.at(squares, shares.indices, shares.data.astype(np.float64) ** 2)
    diagonal = squares + ridge

    def multiply(x: Float64) -> Float64:
        made: Float64 = back.multiply(forth.multiply(x)) + ridge * x
        return made

    vectors = np.empty((N, K), np.float32)
    width = _width(N)
    starts = range(0, K, width)
    for start in context.progress.follow(
        iter(starts), "n-grams", len(starts), "blocks", lambda _: 1
    ):
        block = slice(start, min(start + width, K))
        right = back.multiply(directions[:, block].astype(np.float64))
        solve = conjugate_gradients.solve
        vectors[:, block] = solve(multiply, diagonal, right, tol=_TOL, most=_STEPS)
    return vectors


def working_bytes(words: int, ngrams: int) -> int:
    """Return the bytes of a block of columns."""
    return 8 * _COPIES * _width(ngrams) * (words + ngrams)


def _width(ngrams: int) -> int:
    """Return the columns of a block, which the data alone decide, and with them the bytes."""
    return _NARROW if ngrams > _MANY else _WIDE
