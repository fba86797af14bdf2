"""From solutions of the row problem to vectors like those that are known, and how far to trust it.

A file's vectors are not such solutions: they are two sides of weighted sweeps, joined, or
eigenvectors times a power, or another program's. So the problem is solved for known words too, each
without its own column, and the K × K matrix T that takes their solutions x to their vectors is
fitted; a new word's vector is x T. Known words that took no part in the fit judge it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Float32, Float64, Int64
from wordgeom.linalg.blas import one_thread

_MOST = 20_000  # known words that are solved too
_MANY = 2_000  # of them, from which on a fifth is enough to judge
_PRIOR = 100.0  # words that T's prior weighs as much as: it helps few and cannot hurt many


@dataclass(frozen=True)
class Calibrated:
    """T (K × K), how many known words it was fitted to; the rows and cosines (h) of others."""

    T: Float64
    fitted: int
    held_out: Int64
    cosines: Float64


def calibrate(
    solve: Callable[[Int64], Array], able: Int64, true: Float32, rng: np.random.Generator, ops: Ops
) -> Calibrated:
    """Fit T to known words drawn at random, and judge it by others: half, of many a fifth.

    solve: of rows, their solutions (n × K); able (p ≥ 2): rows that can be solved; true (p × K):
    their vectors. Drawn from all and not the most frequent, whose rows are the longest: they take
    three times as long, and rarer words are told better by the like of them.
    """
    drawn = rng.permutation(len(able))[:_MOST]
    part = len(drawn) // (5 if len(drawn) >= _MANY else 2)
    rows, wanted = able[drawn], true[drawn]
    solved = solve(rows)
    T = fit_map(solved[part:], wanted[part:], ops)
    found = cosines(ops.to_numpy(ops.combine(solved[:part], T)), wanted[:part])
    return Calibrated(T, len(drawn) - part, rows[:part], found)


def fit_map(solved: Array, true: Array, ops: Ops) -> Float64:
    """Return T (K × K): the least squares of true (n × K) − solved (n × K) T.

    A ridge draws T to the one multiple of the identity that fits best, which is what is left of
    it where words are few.
    """
    x, y = ops.tall(solved, np.float64), ops.tall(true, np.float64)
    square, product = ops.inner(x, x), ops.inner(x, y)
    size = float(np.trace(square))
    if size == 0.0:
        return np.zeros_like(square)
    multiple = float(np.trace(product)) / size
    ridge = _PRIOR * size / (len(square) * len(solved))
    identity = np.eye(len(square))
    with one_thread():
        found = np.linalg.solve(square + ridge * identity, product + ridge * multiple * identity)
    return np.asarray(found, np.float64)


def cosines(one: Array, other: Array) -> Float64:
    """(n) the cosine of each row of `one` with that of `other`; 0 where either is 0."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products = np.einsum("ij,ij->i", a, b)
    found = np.divide(products, lengths, out=np.zeros(len(a)), where=lengths > 0.0)
    return np.asarray(found, np.float64)
