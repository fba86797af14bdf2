"""F of each word: do its topic loadings change with time?

Carrington (2021), Theorem 5, extended by a variance per word, the mean and the trend f: the model
[1, f, U] of a word is tested against [1, f, U, f_1∘U, …, f_q∘U] by
F = (RSS₀ − RSS₁)/(rq) ÷ RSS₁/(n − r(q+1) − c), c = 1 + q. If the trend is free, f is left out of
the first model, so a change of frequency counts, and rq becomes (r + 1) q. In float64.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Csr, Float64
from wordgeom.drift import kernels
from wordgeom.drift.contrasts import (
    Moments,
    Residuals,
    contrasts,
    f_values,
    sums_of_squares,
)
from wordgeom.drift.time_axis import Axis

_CONSTANT = 1e-12  # relative to a word's sum of squares: a smaller residual is rounding


@dataclass(frozen=True, eq=False)
class WordResiduals:
    """Residuals of words given [1, U], in implicit form.

    varying (p) bool: the w words with a residual; columns (w × n): their Xᵀ; Z (n × r+1) =
    [1/√n, U]; sides (r+1 × w): ZᵀX; norms (w): sums of squares; rest (w): residual ones.
    """

    varying: Array
    columns: Csr
    Z: Float64
    sides: Float64
    rest: Float64
    norms: Float64

    def __len__(self) -> int:
        return self.columns.rows

    @property
    def rank(self) -> int:
        """The number of topics r."""
        return int(self.Z.shape[1]) - 1

    def of(self, words: slice, q: int) -> Residuals:
        """Return the residual sums of squares of a slice of words, for polynomials of degree q."""
        n, floor = len(self.Z), np.maximum(_CONSTANT * self.norms[words], np.finfo(float).tiny)
        return Residuals(n, self.rest[words], floor, degrees_of_freedom(n, self.rank, q))


def remove_topics(columns: Csr, U: Float64, ops: Ops) -> WordResiduals:
    """Return the residuals of rows of Xᵀ (p × n) given [1, U]; raises InputError if all are 0."""
    n = len(U)
    Z = np.hstack([np.full((n, 1), n**-0.5), U])
    norms = np.empty(columns.rows)
    kernels.row_squares(columns.indptr, columns.data, norms)
    sides = products(columns, Z, ops).T
    rest = norms - np.einsum("zp,zp->p", sides, sides)
    varying = np.asarray(rest > _CONSTANT * norms)
    if not varying.any():
        do = "check the weights, or lower --rank"
        raise InputError("no word has variance left given the topics", do=do)
    if not varying.all():
        columns = columns.select(np.flatnonzero(varying))
        sides, rest, norms = sides[:, varying], rest[varying], norms[varying]
    return WordResiduals(varying, columns, Z, sides, rest, norms)


def products(columns: Csr, tall: Float64, ops: Ops) -> Float64:
    """Return Xᵀ (p × n) times `tall` (n × k) in float64."""
    product = ops.operator(columns).multiply(ops.tall(tall, np.float64))
    return np.asarray(ops.to_numpy(product), np.float64)


def degrees_of_freedom(n: int, r: int, q: int) -> int:
    """Return n − r(q+1) − c, c = 1 + q. Raises InputError if that is not positive."""
    taken = (r + 1) * (q + 1)
    if n <= taken:
        use = f"{r:,} topics at degree {q} use {taken:,} degrees of freedom"
        what = f"{use}, which {n:,} documents do not leave"
        do = "lower --rank, or train with a lower --degree"
        raise InputError(what, do=do)
    return n - taken


def observe(words: WordResiduals, axis: Axis, hold: bool, ops: Ops) -> tuple[Float64, Float64]:
    """Return F (w) and partial R² (w) of words with the observed times."""
    n, width = words.Z.shape
    q, values = axis.degree, axis.values()
    each = [values[:, k, None] * words.Z for k in range(q)]
    S = np.hstack(each)
    first = (S.T @ words.Z).reshape(1, q, width, width)
    second = (S.T @ S).reshape(1, q, width, q, width)
    parts = np.stack([products(words.columns, part, ops) for part in each])  # (q, w, r+1)
    parts -= words.sides.T @ first[0]
    observed = contrasts(Moments(first, second), n, hold)
    residuals = words.of(slice(None), q)
    explained, before = sums_of_squares(observed, parts[None], residuals)
    r2 = explained[0] / np.maximum(before[0], residuals.floor)
    return f_values(explained, before, observed.inverse.shape[1], residuals)[0], r2
