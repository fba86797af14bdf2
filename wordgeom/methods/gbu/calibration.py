"""Calibration: the linear map from row solutions to known vectors, and its held-out accuracy.

The vectors of a file are not solutions of the row problem: they combine two factors of weighted
sweeps, or are scaled eigenvectors, or come from another program. The row problem is therefore also
solved for known words, each without its own column, and a K × K matrix T is fitted that maps these
solutions x to the known vectors. The vector of a new word is x T. Held-out known words measure the
accuracy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Float32, Float64, Int64
from wordgeom.linalg.blas import one_thread

_MOST = 20_000  # known words to solve for
_MANY = 2_000  # from this number of known words, a fifth is held out instead of half
_PRIOR = 100.0  # weight of T's prior, in words: helps if words are few, negligible if many


@dataclass(frozen=True)
class Calibrated:
    """T (K × K), fitted to `fitted` words; rows and cosines (h) of held-out words."""

    T: Float64
    fitted: int
    held_out: Int64
    cosines: Float64


def calibrate(
    solve: Callable[[Int64], Array], able: Int64, true: Float32, rng: np.random.Generator, ops: Ops
) -> Calibrated:
    """Fit T to a random sample of known words and measure it on held-out ones.

    solve: returns the solutions (n × K) of rows; able (p ≥ 2): rows that can be solved; true
    (p × K): their vectors. The sample is uniform rather than the most frequent words: their rows
    are longest, which takes three times as long, and rare new words resemble rare known ones.
    """
    sample = rng.permutation(len(able))[:_MOST]
    part = len(sample) // (5 if len(sample) >= _MANY else 2)
    rows, known = able[sample], true[sample]
    solved = solve(rows)
    T = fit_map(solved[part:], known[part:], ops)
    accuracy = cosines(ops.to_numpy(ops.combine(solved[:part], T)), known[:part])
    return Calibrated(T, len(sample) - part, rows[:part], accuracy)


def fit_map(solved: Array, true: Array, ops: Ops) -> Float64:
    """Return T (K × K), which minimises ‖true − solved T‖² with a ridge; both are (n × K).

    The ridge shrinks T towards the best-fitting multiple of the identity, which dominates if words
    are few.
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
        T = np.linalg.solve(square + ridge * identity, product + ridge * multiple * identity)
    return np.asarray(T, np.float64)


def cosines(one: Array, other: Array) -> Float64:
    """Return the cosines (n) of corresponding rows; 0 where either row is 0."""
    a, b = one.astype(np.float64), other.astype(np.float64)
    lengths = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
    products = np.einsum("ij,ij->i", a, b)
    return np.asarray(np.divide(products, lengths, np.zeros(len(a)), where=lengths > 0.0))
