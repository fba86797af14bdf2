"""Counts of documents from topics, and their score test by sign flips."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from drifting import opened, polynomials
from matrices import to_csr

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.drift.flips.cells import FOLDS, Cells, assign_cells
from wordgeom.drift.flips.moments import Moments, moments
from wordgeom.drift.options import DriftOptions
from wordgeom.drift.testing import test_directions
from wordgeom.drift.verdict import Verdict
from wordgeom.runtime.scheduler import Scheduler


def topics(rng: np.random.Generator, count: int, words: int) -> Float64:
    """Zipfian topics (count × words): each favours other words, and has all."""
    zipf = (np.arange(words) + 3.0) ** -0.7
    drawn = rng.dirichlet(0.5 * words * zipf / zipf.sum(), count)
    return np.asarray(0.9 * drawn + 0.1 / words)


def drawn(rng: np.random.Generator, usage: Array, lengths: Array) -> Int64:
    """Multinomial counts (n × p) of documents with word probabilities usage (n × p)."""
    pairs = zip(lengths, usage, strict=True)
    return np.array([rng.multinomial(int(N), u / u.sum()) for N, u in pairs])


@dataclass(frozen=True)
class Passages:
    """Counts (n × p) with times and documents (n), and weights as the test has them."""

    X: Int64
    times: Int64
    units: Int64

    @property
    def lengths(self) -> Float64:
        """The number of tokens of each passage."""
        return np.asarray(self.X.sum(axis=1).astype(float))

    @property
    def weights(self) -> Float64:
        """Weights of mean 1."""
        return np.asarray(np.sqrt(self.lengths) / np.sqrt(self.lengths).mean())

    def cells(self, seed: int = 1) -> Cells:
        """The cells of a seed."""
        return assign_cells(self.times, self.units, np.random.default_rng(seed))

    def moments(self, P: Array, cells: Cells) -> Moments:
        """The moments in coordinates P (p × r), or those of each fold (FOLDS × p × r)."""
        each = np.broadcast_to(P, (FOLDS, *P.shape[-2:])).copy()
        with opened() as context:
            return moments(
                to_csr(self.X.astype(np.float32)), each, self.lengths, self.weights, cells, context
            )

    def columns(self) -> Any:
        """Xᵀ as CSR."""
        return to_csr(self.X.T.astype(np.float32))


def flipped(
    X: Array, times: Array, rank: int = 3, *, degree: int = 1, units: Array | None = None,
    threads: int = 1, seed: int = 1, basis: Array | None = None,
    cluster: Scheduler | None = None, **options: Any,
) -> Verdict:  # fmt: skip
    """The verdict of `test_directions`."""
    options.setdefault("permutations", 99)
    given = np.arange(len(X)) if units is None else units
    powers = polynomials(times, degree) if basis is None else basis
    with opened(threads, seed=seed, cluster=cluster) as context:
        return test_directions(
            to_csr(X.astype(np.float32)), given, powers, times.astype(float),
            DriftOptions(**options), rank, context,
        )  # fmt: skip
