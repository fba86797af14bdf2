"""The row problem of each loss, with the vectors of known words, the anchors, held fixed.

The vectors of a file have no scale that means anything: they combine two factors, or come from
another program. They are scaled to the mean squared norm that suits a loss, and calibration.py maps
the solutions back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol

import numpy as np

from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Csr, Float32, Float64, Int64
from wordgeom.linalg.logistic_rows import Expected, improve_rows
from wordgeom.linalg.row_solver import Penalty, solve_rows
from wordgeom.methods.gbu.logistic_sweeps import LogisticLoss, Pairs, thinned
from wordgeom.methods.gbu.weighted_sweeps import Loss, confidences

_TOL = 1e-3  # relative tolerance on a row's residual
# Of each loss: a run card may say 0, and the vectors may have columns of zeros.
_LEAST_RIDGE, _LEAST_SHRINKAGE = 1.0, 0.01


class AnchoredRows(Protocol):
    """The row problem of one loss; norm: root of the anchors' mean squared norm."""

    norm: ClassVar[float]

    def solve(
        self, rows: Int64, pairs: Csr, weights: Float32, other: Tall, ops: Ops
    ) -> tuple[Tall, int]:
        """Return the solutions (n × K) of rows, and the number that missed the tolerance.

        pairs (n × m), weights (nnz): with anchors; other (m × K): the anchors' vectors.
        """


@dataclass(frozen=True)
class SquaredRows:
    """Weighted least squares of targets, weights being confidences c_ij."""

    norm: ClassVar[float] = 1.0  # inner products that are weighted counts
    penalty: Penalty

    def solve(
        self, rows: Int64, pairs: Csr, weights: Float32, other: Tall, ops: Ops
    ) -> tuple[Tall, int]:
        """Return the minimisers, and the number that missed the tolerance."""
        start = _zeros(len(rows), other, ops)
        found = solve_rows(ops.row_solver(pairs, weights), other, start, self.penalty, _TOL, ops)
        return found.solution, found.missed


@dataclass(frozen=True)
class LogisticRows:
    """The bounded logistic loss, weights being tempered counts C_ij^α.

    all_pairs: of the whole matrix; columns (m): expected counts' factors of the anchors. The bounds
    of counted pairs touch the loss where it is lowest. Further steps, from there, change the
    cosines of held-out words by .003 at most, either way (docs/methods/gbu.md).
    """

    norm: ClassVar[float] = 2.0  # cosines of held-out words are highest near it
    all_pairs: Pairs
    columns: Float64

    def solve(
        self, rows: Int64, pairs: Csr, weights: Float32, other: Tall, ops: Ops
    ) -> tuple[Tall, int]:
        """Return the minimisers of the bounds, and the number that missed the tolerance."""
        every = self.all_pairs
        counts = Csr(pairs.indptr, pairs.indices, weights, pairs.columns)
        expected = Expected(every.words[rows], self.columns, every.ridges[rows], every.shift)
        start, solver = _zeros(len(rows), other, ops), ops.logistic_solver(counts)
        found = improve_rows(solver, other, start, expected, _TOL, ops, expect=True)
        return found.solution, found.missed


def row_problem(
    loss: Loss | LogisticLoss, targets: Csr, counts: Float32, anchors: Int64, K: int
) -> tuple[Float32, AnchoredRows]:
    """Return the weights (nnz) of pairs and the row problem of K columns; overwrites counts.

    targets (V × V): on the pattern of counts (nnz); anchors (m): rows of the anchors.
    """
    if isinstance(loss, LogisticLoss):
        held = replace(loss, shrinkage=max(loss.shrinkage, _LEAST_SHRINKAGE))
        pairs = thinned(Csr(targets.indptr, targets.indices, counts, targets.columns), held)
        return pairs.counts.data, LogisticRows(pairs, pairs.contexts[anchors])
    asked = loss.penalty(K)
    penalty = replace(asked, ridge=max(asked.ridge, _LEAST_RIDGE))
    return confidences(counts, loss), SquaredRows(penalty)


def _zeros(rows: int, other: Tall, ops: Ops) -> Tall:
    return ops.tall(np.zeros((rows, other.shape[1]), np.float32), np.float32)
