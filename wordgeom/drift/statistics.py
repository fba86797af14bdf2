"""F of each word: does what it has to do with the topics change with time?

Carrington 2021, Theorem 5, with each word's own variance and what the theorem leaves out, the mean
and the trend: the model [1, f, U] of a word against [1, f, U, f_1∘U, …, f_q∘U],
F = (RSS₀ − RSS₁)/(rq) ÷ RSS₁/(n − r(q+1) − c), c = 1 + q. Where the trend is free, f is left out of
the first model, so that a change of frequency counts, and rq becomes (r + 1) q. In float64.
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
    tested_columns,
)
from wordgeom.drift.time_axis import Axis

_CONSTANT = 1e-12  # of a word's sum of squares: rounding


@dataclass(frozen=True, eq=False)
class WordResiduals:
    """Words freed of [1, U]: what all statistics start from.

    kept (p) bool: which of all words are not constant; of these w, columns: Xᵀ (w × n); sides
    (r+1 × w) ZᵀX, with Z (n × r+1) = [1/√n, U]; rest (w) the squares that are left, of norms (w).
    """

    kept: Array
    columns: Csr
    Z: Float64
    sides: Float64
    rest: Float64
    norms: Float64

    def __len__(self) -> int:
        return self.columns.rows

    @property
    def rank(self) -> int:
        """How many topics there are, r."""
        return int(self.Z.shape[1]) - 1

    def of(self, words: slice, degrees: int) -> Residuals:
        """Return what some words have left."""
        floor = np.maximum(_CONSTANT * self.norms[words], np.finfo(np.float64).tiny)
        return Residuals(self.rest[words], floor, degrees)


@dataclass(frozen=True, eq=False)
class Observed:
    """Of w words: F, and r2, the share of what was left that is explained."""

    F: Float64
    r2: Float64


def remove_topics(columns: Csr, U: Float64, ops: Ops) -> WordResiduals:
    """Free words, rows of Xᵀ (p × n), of [1, U]; raises InputError where none has anything left."""
    n = len(U)
    Z = np.hstack([np.full((n, 1), n**-0.5), U])
    norms = np.empty(columns.rows)
    kernels.row_squares(columns.indptr, columns.data, norms)
    sides = products(columns, Z, ops).T
    rest = norms - np.einsum("zp,zp->p", sides, sides)
    kept = np.asarray(rest > _CONSTANT * norms)
    if not kept.any():
        raise InputError(
            "no word varies beside the topics", do="check the weights, or lower --rank"
        )
    if kept.all():
        return WordResiduals(kept, columns, Z, sides, rest, norms)
    return WordResiduals(
        kept, columns.select(np.flatnonzero(kept)), Z, sides[:, kept], rest[kept], norms[kept]
    )


def products(columns: Csr, tall: Float64, ops: Ops) -> Float64:
    """Return Xᵀ (p × n) times `tall` (n × k) in float64."""
    found = ops.operator(columns).multiply(ops.tall(tall, np.float64))
    return np.asarray(ops.to_numpy(found), np.float64)


def degrees_of_freedom(n: int, r: int, q: int) -> int:
    """Return n − r(q+1) − c, c = 1 + q. Raises InputError where none are left."""
    taken = (r + 1) * (q + 1)
    if n <= taken:
        what = f"{r:,} topics at degree {q} take {taken:,} degrees of freedom"
        raise InputError(
            what, found=f"{n:,} documents", do="lower --rank, or train with a lower --degree"
        )
    return n - taken


def observed_statistics(words: WordResiduals, axis: Axis, hold: bool, ops: Ops) -> Observed:
    """Return F and partial R² of words with the documents' own times."""
    n, width = words.Z.shape
    degrees = degrees_of_freedom(n, words.rank, axis.degree)
    values = axis.values()
    each = [values[:, k, None] * words.Z for k in range(axis.degree)]
    S = np.hstack(each)
    first = (S.T @ words.Z).reshape(1, axis.degree, width, width)
    second = (S.T @ S).reshape(1, axis.degree, width, axis.degree, width)
    parts = np.stack([products(words.columns, part, ops) for part in each])  # (q, p, r+1)
    parts -= words.sides.T @ first[0]
    raw = np.concatenate(parts[:, :, tested_columns(hold)], axis=1)[None]
    found = contrasts(Moments(first, second), n, hold)
    rest = words.of(slice(None), degrees)
    explained, before = sums_of_squares(found, raw, n**0.5 * parts[None, :, :, 0], rest)
    r2 = explained[0] / np.maximum(before[0], rest.floor)
    return Observed(f_values(explained, before, raw.shape[2], rest)[0], r2)
