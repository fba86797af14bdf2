"""Logistic sweeps: skip-gram's loss, minimised over all pairs by alternating closed forms.

Skip-gram with negative sampling (Mikolov et al. 2013; Levy and Goldberg 2014, eq. 6) weights a pair
by its count C_ij, and by how often it would occur by chance, N_ij. With s(t) = log(1 + eᵗ), the
loss is

    Σ_P C_ij^α s(−t_ij) + Σ_all N_ij^α s(t_ij) + Σ λ_i (‖v_i‖² + ‖u_i‖²),
    t_ij = v_i·u_j − α log k,  N_ij = k f_i p_j,  p_j ∝ F_j^cds,

where C_ij are counts of a text whose frequent words are thinned as word2vec.c thins them:
of a word with a share x > τ of the text, √(τ/x) + τ/x stays. f_i are their sums, and F_j the sums
before. Skip-gram has α = 1; with a smaller α, frequent pairs decide less.
The loss of a pair is lowest at t_ij = α log(C_ij / k f_i p_j), of which −α log k is common to all
pairs: a constant here, which skip-gram's vectors must represent. The ridge of a word grows as the
noise of its gradient does: λ_i = λ √Σ_j C_ij^α. N has rank one, and the second sum a quadratic
bound, which makes each row a closed form (linalg/logistic_rows.py).
From the second half of the sweeps on, each half sweep lowers the bounded loss; before, the bounds
of counted pairs touch the loss where it is lowest, since the vectors are far from the result.
Bounds are more curved than the loss, so that their minima x* are short of its own. Rows therefore
move to x + ω (x* − x), which keeps ω (2 − ω) of the gain of a quadratic (Salakhutdinov and Roweis
2003): with ω = 1.6, three sweeps reach what eight or more reach with ω = 1 (docs/methods/gbu.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from wordgeom.core.ops import LogisticSolver, Ops, Tall
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Csr, Float32, Float64
from wordgeom.linalg.logistic_rows import Expected, improve_rows
from wordgeom.methods.gbu.bound_gap import bound_gap
from wordgeom.methods.gbu.sweep_state import Half, State

_RELAXATION = 1.6  # ω


@dataclass(frozen=True)
class LogisticLoss:
    """Parameters of the loss: alpha α; negative k; smoothing cds; shrinkage λ; thin τ."""

    alpha: float
    negative: float
    smoothing: float
    shrinkage: float
    thin: float
    penalty_option: ClassVar[str] = "--shrinkage"
    needs_targets: ClassVar[bool] = False

    @property
    def shift(self) -> float:
        """−α log k."""
        return -self.alpha * math.log(self.negative)

    def sweeps(self, pattern: Csr, counts: Float32, K: int, ops: Ops) -> LogisticSweeps:
        """Return the half sweeps over these pairs; counts are thinned and tempered in place."""
        pattern = Csr(pattern.indptr, pattern.indices, counts, pattern.columns)
        pairs = thinned(pattern, self)
        solver = ops.logistic_solver(pairs.counts)
        return LogisticSweeps(solver, pairs, self, ops)


@dataclass(frozen=True)
class Pairs:
    """Counts C_ij^α (V × V); factors of N_ij^α, of words and contexts; ridges λ_i (V); −α log k."""

    counts: Csr
    words: Float64
    contexts: Float64
    ridges: Float64
    shift: float


def thinned(counts: Csr, loss: LogisticLoss) -> Pairs:
    """Thin and temper the counts of all pairs, in place."""
    blocks = row_blocks(counts.indptr)
    sums = _row_sums(counts, blocks)
    share = sums / sums.sum()
    rate = (loss.thin or 1.0) / np.maximum(share, np.finfo(float).tiny)
    kept = np.minimum(1.0, np.sqrt(rate) + rate)
    for start, stop in blocks:
        part = slice(counts.indptr[start], counts.indptr[stop])
        lengths = np.diff(counts.indptr[start : stop + 1])
        data = counts.data[part]
        data *= np.repeat(kept[start:stop], lengths) * kept[counts.indices[part]]
    smooth = sums**loss.smoothing
    words = (loss.negative * _row_sums(counts, blocks)) ** loss.alpha
    if loss.alpha != 1.0:
        for start, stop in blocks:
            counts.data[counts.indptr[start] : counts.indptr[stop]] **= np.float32(loss.alpha)
    # A word without pairs has a ridge too, so that no system is singular.
    ridges = loss.shrinkage * np.sqrt(np.maximum(_row_sums(counts, blocks), 1.0))
    return Pairs(counts, words, (smooth / smooth.sum()) ** loss.alpha, ridges, loss.shift)


@dataclass(frozen=True)
class LogisticSweeps:
    """Half sweeps of the logistic loss."""

    solver: LogisticSolver
    pairs: Pairs
    loss: LogisticLoss
    ops: Ops

    def half(self, other: Tall, start: Tall, contexts: bool, early: bool, tol: float) -> Half:
        """Lower the bound of each row; the objective is that before the half sweep."""
        made = improve_rows(
            self.solver, other, start, self._expected(contexts), tol, self.ops, expect=early
        )
        solution = made.solution
        if not early:
            solution -= start
            solution = self.ops.along(start, _RELAXATION, solution, out=solution)
        return Half(solution, made.loss + self._squares(other), made.steps, made.missed)

    def finish(self, state: State) -> None:
        """Replace the objectives before each half sweep by those after it, and add the gap."""
        made = improve_rows(
            self.solver, state.u, state.v, self._expected(False), 1.0, self.ops, most=0
        )
        state.v = made.solution
        state.facts["objective_at_start"], *after = state.objectives
        state.objectives = [*after, made.loss + self._squares(state.u)]
        sides = (self.ops.to_numpy(side) for side in (state.v, state.u))
        gap = bound_gap(self._expected(False), *sides)
        state.facts |= {
            "shrinkage": self.loss.shrinkage, "thin": self.loss.thin,
            "bound_gap": gap.value, "bound_gap_error": gap.error,
        }  # fmt: skip

    def _squares(self, other: Tall) -> float:
        return float(np.trace(self.ops.moments(other, self.pairs.ridges)[0]))

    def _expected(self, contexts: bool) -> Expected:
        """Return the expected counts of a half sweep over contexts or over words."""
        sides = (self.pairs.words, self.pairs.contexts)
        rows, columns = sides[::-1] if contexts else sides
        return Expected(rows, columns, self.pairs.ridges, self.pairs.shift)


def _row_sums(counts: Csr, blocks: list[tuple[int, int]]) -> Float64:
    """Return the sum of each row, in float64."""
    sums = np.zeros(counts.rows)
    for start, stop in blocks:
        begin = counts.indptr[start]
        data = counts.data[begin : counts.indptr[stop]]
        running = np.concatenate(([0.0], np.cumsum(data, dtype=np.float64)))
        sums[start:stop] = np.diff(running[counts.indptr[start : stop + 1] - begin])
    return sums
