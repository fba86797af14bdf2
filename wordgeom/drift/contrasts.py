"""Contrasts of permuted times, which all words share, and F computed from them.

With g (n × q) the polynomials at the documents' times and Z = [1/√n, U], a permutation enters only
through Zᵀdiag(g_k)Z and Zᵀdiag(g_k g_l)Z. The columns W of change are g_k∘U, residualised on [1, U]
and g; if the trend is free they are g_k∘[1, U], residualised on [1, U]. L⁻¹ makes them orthonormal,
and they explain |L⁻¹(WᵀR − …)|² of the sum of squares of a word with residuals R given [1, U].
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float32, Float64

GROUP_SIZE = 16  # permutations in a batch of matrix products
# Relative to the mean square of W's columns, added to WᵀW because a topic that occurs at one time
# alone has no estimable change. The second is for products in float32.
_RIDGE, _FLOAT32_RIDGE = 1e-10, 1e-7
CONTRASTS = ("inverse", "crossed", "trend")  # the fields of Contrasts
_COLUMNS = 128  # width of the strips in which the triangle L⁻¹ is multiplied


@dataclass(frozen=True, eq=False)
class Moments:
    """first (b, q, r+1, r+1): Zᵀdiag(g_k)Z; second (b, q, r+1, q, r+1): Zᵀdiag(g_k g_l)Z."""

    first: Float64
    second: Float64


@dataclass(frozen=True, eq=False)
class Contrasts:
    """The maps that make W orthonormal under b permutations; c = q if the trend is held, else 0.

    inverse (b, qr, qr): L⁻¹, lower triangles; trend (b, c, q): the map that makes the trends
    orthonormal; crossed (b, qr, c): L⁻¹Wᵀ times the orthonormal trends.
    """

    inverse: Array
    crossed: Array
    trend: Float64

    @property
    def tested(self) -> slice:
        """The columns of Z in W."""
        return tested_columns(self.trend.shape[1] > 0)


def contrasts(moments: Moments, n: int, hold: bool, ridge: float = _RIDGE) -> Contrasts:
    """Return the maps that make W, given [1, U], and any held trends orthonormal."""
    first, second = moments.first, moments.second
    b, q, width = first.shape[:3]
    along = n**0.5 * first[:, :, 0]  # gᵀZ
    tested = tested_columns(hold)
    across = first[:, :, tested].reshape(b, -1, width)  # WᵀZ
    gram = second[:, :, tested, :, tested].reshape(b, across.shape[1], across.shape[1])
    left = gram - across @ across.swapaxes(1, 2)
    trend, shared = np.empty((b, 0, q)), np.empty((b, across.shape[1], 0))
    if hold:
        within = n * second[:, :, 0, :, 0]
        trend = _inverse(within - along @ along.swapaxes(1, 2), _RIDGE * _size(within))
        on_trend = n**0.5 * second[:, :, 1:, :, 0].reshape(b, across.shape[1], q)
        shared = (on_trend - across @ along.swapaxes(1, 2)) @ trend.swapaxes(1, 2)
        left -= shared @ shared.swapaxes(1, 2)
    inverse = _inverse(left, ridge * _size(gram))
    return Contrasts(inverse, inverse @ shared, trend)


def float32_contrasts(moments: Moments, n: int, hold: bool) -> Contrasts:
    """Return `contrasts` for products with words in float32."""
    found = contrasts(moments, n, hold, _FLOAT32_RIDGE)
    inverse, crossed = found.inverse.astype(np.float32), found.crossed.astype(np.float32)
    return Contrasts(inverse, crossed, found.trend)


def tested_columns(hold: bool) -> slice:
    """Return the columns of Z in W: all if the trend is free, else all but the constant."""
    return slice(1 if hold else 0, None)


def _size(gram: Float64) -> Float64:
    """Return the means of the diagonals (b, 1, 1)."""
    return np.asarray(np.trace(gram, axis1=1, axis2=2)[:, None, None] / gram.shape[1])


def _inverse(gram: Float64, ridge: Float64) -> Float64:
    """Return L⁻¹ (b, m, m), LLᵀ = gram + ridge."""
    return np.linalg.inv(np.linalg.cholesky(gram + ridge * np.eye(gram.shape[1])))


@dataclass(frozen=True, eq=False)
class Residuals:
    """Residual sums of squares |R|² of words in n documents: rest (w).

    floor (w): sums of squares below it are rounding; degrees: residual degrees of freedom.
    """

    n: int
    rest: Float64
    floor: Float64
    degrees: int


def sums_of_squares(found: Contrasts, products: Array, words: Residuals) -> tuple[Float64, Float64]:
    """Return the sums of squares (b, w) explained by W, and those before W is added.

    products (b, q, w, r+1): Rᵀdiag(g_k)Z.
    """
    raw = np.concatenate(products[:, :, :, found.tested].swapaxes(0, 1), axis=2)  # RᵀW (b, w, qr)
    along = words.n**0.5 * products[:, :, :, 0].astype(np.float64)  # gᵀR (b, q, w)
    held = found.trend @ along  # (b, c, w)
    before = words.rest - np.einsum("bcw,bcw->bw", held, held)
    held = held.astype(raw.dtype).swapaxes(1, 2)
    explained = np.zeros(raw.shape[:2])
    for start in range(0, raw.shape[2], _COLUMNS):
        stop = min(start + _COLUMNS, raw.shape[2])
        strip = found.inverse[:, start:stop, :stop].swapaxes(1, 2)
        N = raw[:, :, :stop] @ strip - held @ found.crossed[:, start:stop].swapaxes(1, 2)
        explained += np.einsum("bwk,bwk->bw", N, N)
    return explained, before


def f_values(explained: Float64, before: Float64, columns: int, words: Residuals) -> Float64:
    """Return F (b, w) of `columns` that explain `explained` of the sums of squares `before`."""
    after = np.maximum(before - explained, words.floor)
    return np.asarray(explained / columns / (after / words.degrees))


def word_f_values(found: Contrasts, products: Float32, words: Residuals) -> Float64:
    """Return F (b, w); arguments as in `sums_of_squares`."""
    return f_values(*sums_of_squares(found, products, words), found.inverse.shape[1], words)
