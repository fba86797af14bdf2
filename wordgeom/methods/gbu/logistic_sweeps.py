"""Logistic sweeps: skip-gram's loss, minimised over all pairs by alternating closed forms.

Skip-gram with negative sampling (Mikolov et al. 2013; Levy and Goldberg 2014, eq. 6) weights a pair
by its count C_ij, and by how often it would occur by chance, N_ij. With s(t) = log(1 + eᵗ), the loss is

    Σ_P C_ij^α s(−v_i·u_j) + Σ_all N_ij^α s(v_i·u_j) + λ (‖V‖² + ‖U‖²),
    N_ij = k f_i p_j,  p_j ∝ F_j^cds,

where C_ij are counts of a text whose frequent words are thinned as skip-gram thins them, f_i their
sums, and F_j the sums before. Skip-gram has α = 1; a smaller α keeps frequent pairs from deciding all.
The second sum has a quadratic bound of rank one in N, which makes each row a closed form
(linalg/logistic_rows.py). The bounded loss falls with every half sweep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.ops import LogisticSolver, Ops
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Csr, Float64
from wordgeom.linalg.logistic_rows import Expected, improve_rows
from wordgeom.methods.gbu.weighted_sweeps import State

_THINNED = 1e-3  # share of the text from which words are thinned, word2vec's default


@dataclass(frozen=True)
class LogisticLoss:
    """Parameters of the loss: alpha α; negative k; smoothing cds; ridge λ."""

    alpha: float
    negative: float
    smoothing: float
    ridge: float


@dataclass(frozen=True)
class Pairs:
    """Counts C_ij^α (V × V), and the factors of N_ij^α: of words (V) and of contexts (V)."""

    counts: Csr
    words: Float64
    contexts: Float64


def thinned(counts: Csr, loss: LogisticLoss) -> Pairs:
    """Thin and temper the counts of all pairs, in place."""
    blocks = row_blocks(counts.indptr)
    sums = _row_sums(counts, blocks)
    share = sums / sums.sum()
    rate = _THINNED / np.maximum(share, np.finfo(float).tiny)
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
    return Pairs(counts, words, (smooth / smooth.sum()) ** loss.alpha)


def half_sweeps(
    state: State, solver: LogisticSolver, pairs: Pairs, ridge: float, halves: int, tol: float,
    ops: Ops,
) -> Iterator[int]:  # fmt: skip
    """Run half sweeps on `state` until there are `halves`; yield 1 after each.

    The objectives are those before each half sweep, and the last. tol: relative tolerance on each
    row.
    """
    while state.halves < halves:
        first = state.halves % 2 == 0
        other, start = (state.v, state.u) if first else (state.u, state.v)
        expected = _expected(pairs, first, ridge)
        found = improve_rows(solver, other, start, expected, tol, ops)
        squares = float(np.trace(ops.inner(other, other)))
        if first:
            state.u = found.solution
        else:
            state.v = found.solution
        state.objectives.append(found.loss + ridge * squares)
        state.steps += found.steps
        state.missed = found.missed
        yield 1


def final_loss(state: State, solver: LogisticSolver, pairs: Pairs, ridge: float, ops: Ops) -> float:
    """Return the loss of the vectors of `state`."""
    expected = _expected(pairs, False, ridge)
    found = improve_rows(solver, state.u, state.v, expected, 1.0, ops, most=0)
    state.v = found.solution
    return found.loss + ridge * float(np.trace(ops.inner(state.u, state.u)))


def _expected(pairs: Pairs, contexts: bool, ridge: float) -> Expected:
    """Return the expected counts of a half sweep over contexts or over words."""
    if contexts:
        return Expected(pairs.contexts, pairs.words, ridge)
    return Expected(pairs.words, pairs.contexts, ridge)


def _row_sums(counts: Csr, blocks: list[tuple[int, int]]) -> Float64:
    """Return the sum of each row, in float64."""
    sums = np.zeros(counts.rows)
    for start, stop in blocks:
        begin = counts.indptr[start]
        data = counts.data[begin : counts.indptr[stop]]
        running = np.concatenate(([0.0], np.cumsum(data, dtype=np.float64)))
        sums[start:stop] = np.diff(running[counts.indptr[start : stop + 1] - begin])
    return sums
