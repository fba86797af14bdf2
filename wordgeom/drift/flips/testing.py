"""The score test by sign flips: does any word's direction in the space of topics change?

Under the null hypothesis the scores of independent documents have mean 0, whatever the lengths of
documents, the frequencies of topics and the frequency of the word do over time. Flipping the signs
of their contributions leaves the distribution of a score's sum as it is, to second order; no
exchangeability of times is needed. F is the squared length of a word's score, in units of its
expected value without change. Standardising each coordinate would give weak topics, in which
words differ little, as much weight as the others: it finds fewer planted changes. The score of
polynomial k is divided by k, as if directions were random walks, whose coefficients have variances
that fall as 1/k²: lasting changes are more frequent than those that return.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Csr, Float32, Float64, Int64
from wordgeom.drift.flips.cells import CELLS, FOLDS, assign_cells
from wordgeom.drift.flips.flipped_words import FlippedWords, statistics_of
from wordgeom.drift.flips.levels import orthonormal_levels
from wordgeom.drift.flips.moments import moments
from wordgeom.drift.flips.scores import ScoreModel
from wordgeom.drift.flips.topics import context_words, cross_fitted_topics
from wordgeom.drift.passages import documents_of_words
from wordgeom.drift.time_axis import Axis
from wordgeom.linalg.eigensolver import EigenSettings
from wordgeom.linalg.svd import svd_bytes, transpose
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

LEAST_DOCUMENTS = 10  # of a tested word: fewer have too few signs
_WORDS = 16


@dataclass(frozen=True, eq=False)
class Flips:
    """F (B+1 × w) of the w tested words, row 0 observed; turn (w); tested (p) bool; rank."""

    F: Float32
    turn: Float64
    tested: Array
    rank: int


def flip_signs(X: Csr, units: Int64, axis: Axis, rank: int, count: int, context: Context) -> Flips:
    """Return the statistics of `count` − 1 sign flips and of the observed signs.

    X (n × p): counts of passages, each with 2 tokens or more; units (n): their documents, not
    descending. Raises InputError, RankError.
    """
    _check_memory(X, axis, rank, count, context)
    levels = orthonormal_levels(axis)
    columns = transpose(X)
    tested = documents_of_words(columns, units) >= LEAST_DOCUMENTS
    if not tested.any():
        what = f"no word is in {LEAST_DOCUMENTS} documents or more"
        raise InputError(what, do="use more documents")
    rng = np.random.default_rng(context.seed)
    lengths = np.bincount(X.entry_rows, X.data, X.rows).astype(np.float64)
    weights = np.sqrt(lengths) / np.sqrt(lengths).mean()
    cells = assign_cells(axis.codes, units, rng)
    P = cross_fitted_topics(X, lengths, cells.fold[cells.of], rank, context)
    shared = moments(X, P, lengths, weights, cells, context)
    signs = rng.integers(0, 2, (count - 1, len(cells)), np.int8).astype(np.float32) * 2 - 1
    task = FlippedWords(ScoreModel(shared, levels[cells.time]), columns, signs)
    blocks = [slice(at, min(at + _WORDS, X.columns)) for at in range(0, X.columns, _WORDS)]
    F, turn = np.empty((count, X.columns), np.float32), np.empty(X.columns)
    done = statistics_of(task, blocks, context.part(f"{rank}-topics"))
    at = 0
    for some, turns in context.progress.follow(
        done, "sign flips", X.columns, "words", lambda pair: len(pair[1])
    ):
        F[:, at : at + len(turns)], turn[at : at + len(turns)] = some, turns
        at += len(turns)
    tested &= np.isfinite(F[0])
    return Flips(F[:, tested], turn[tested], tested, shared.rank)


def _check_memory(X: Csr, axis: Axis, rank: int, count: int, context: Context) -> None:
    cells, q = max(CELLS, FOLDS * axis.times), axis.degree
    contexts = context_words(X.columns, rank)
    entries = X.columns * contexts  # of PPMI, at most
    topics = svd_bytes(X.columns, contexts, entries, EigenSettings(rank)) + 8 * entries + 24 * X.nnz
    shared = 8 * FOLDS * X.columns * rank + 8 * 4 * cells * rank**2 + 5 * X.rows * rank
    block = 8 * _WORDS * cells * rank * (5 + 3 * q) + 8 * count * rank * q
    needed = 4 * count * X.columns + 16 * X.nnz
    needed += max(topics, shared + context.pool.threads * block)
    what = f"the score test of {X.columns:,} words with {rank:,} topics"
    check_memory(what, needed, context.memory, "raise --memory or lower --rank")
