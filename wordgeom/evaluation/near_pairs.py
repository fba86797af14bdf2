"""Near pairs: how faithfully vectors preserve the norms and the small angles of a reference.

Saul (2022) calls two words near if the cosine of their reference vectors x exceeds τ. With the set
of near pairs Ω_x, which includes each word with itself, and Ω_y by the same τ in the vectors y:

    angle error  Δ = 1/|Ω_x| Σ_{(i,j) ∈ Ω_x} |∠(x_i, x_j) − ∠(y_i, y_j)|        (eq. 11), radians
    Jaccard      |Ω_x ∩ Ω_y| / (|Ω_x| + |Ω_y| − |Ω_x ∩ Ω_y|)                   (eq. 12)
    norm error   Σ_i |‖y_i‖ − ‖x_i‖| / Σ_i ‖x_i‖                 (condition (i) of section 2.1)

A zero vector is at a right angle to every vector and near none, itself included. Embeddings that
preserve distances and not angles, such as Isomap's, are judged by 1 − ½‖y_i − y_j‖² in place of the
cosine (appendix B).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.answers import Measure
from wordgeom.evaluation.common_words import CommonWords, Side
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

SPARSITY = 0.99  # share of the pairs that are not near at the default τ
COLUMNS = 6  # of `near_values`
_ROWS, _TARGETS = 128, 2048  # words of a block, constant: sums have one order
_T = TypeVar("_T")


def near_measures(first: int, *, by_distance: bool = False) -> tuple[Measure, ...]:
    """Return the measures of `near_values` in the columns from `first` on."""
    jaccard = Measure("Jaccard of near pairs", _jaccard, most=1.0,
                      columns=slice(first + 1, first + 4))  # fmt: skip
    if by_distance:
        return (jaccard,)
    error = Measure("angle error of near pairs", _ratio, columns=slice(first, first + 2))
    norm = Measure("norm error", _ratio, columns=slice(first + 4, first + 6))
    return error, jaccard, norm


def near_values(
    words: CommonWords, drawn: Int64, tau: float, context: Context, *, by_distance: bool = False
) -> Float64:
    """Return what the measures need of each word drawn (R × 6).

    The sums of `add_near_pairs`, the difference of the norms and the norm in the reference.
    by_distance: whether pairs of the vectors are near by their distance. Raises InputError where
    the blocks exceed the memory limit.
    """
    from wordgeom.evaluation.near_pairs_kernels import add_near_pairs

    ours, theirs = words.ours, words.theirs
    similar = _by_distance if by_distance else cosines

    def run(rows: Int64) -> Float64:
        sums = np.zeros((len(rows), 4))
        for targets in targets_of(words):
            found = cosines(theirs, rows, targets), similar(ours, rows, targets)
            add_near_pairs(*found, tau, rows, targets.start, sums)
        return sums

    parts = list(blocks_of(words, drawn, run, "near pairs", context))
    x, y = theirs.norms[drawn], ours.norms[drawn]
    return np.column_stack([np.concatenate(parts), np.abs(y - x), x])


def sparse_threshold(words: CommonWords, drawn: Int64, context: Context) -> float:
    """Return the τ above which at most 1 − SPARSITY of the pairs' reference cosines are.

    The smallest such multiple of 1 / STEPS, over the pairs of a word drawn and another word.
    """
    from wordgeom.evaluation.near_pairs_kernels import STEPS, count_cosines

    def run(rows: Int64) -> Int64:
        counts = np.zeros(2 * STEPS + 1, np.int64)
        for targets in targets_of(words):
            count_cosines(cosines(words.theirs, rows, targets), rows, targets.start, counts)
        return counts

    counts = np.zeros(2 * STEPS + 1, np.int64)
    for part in blocks_of(words, drawn, run, "cosines", context):
        counts += part
    above = counts.sum() - np.cumsum(counts)
    pairs = len(drawn) * (len(words.items) - 1)
    return float(np.argmax(above <= (1.0 - SPARSITY) * pairs)) / STEPS - 1.0


def blocks_of(
    words: CommonWords, drawn: Int64, run: Callable[[Int64], _T], what: str, context: Context
) -> Iterator[_T]:
    """Yield run(rows) for each block of the words drawn, in order; raises InputError for memory."""
    width = words.ours.matrix.shape[1] + words.theirs.matrix.shape[1]
    needed = 8 * (_ROWS + _TARGETS) * (3 * width + 2 * _ROWS) * context.pool.threads
    check_memory("the cosines of near pairs", needed, context.memory, "raise --memory")
    starts = range(0, len(drawn), _ROWS)
    with one_thread():
        done = context.pool.map(lambda at: run(drawn[at : at + _ROWS]), starts)
        yield from context.progress.follow(done, what, len(starts), "blocks", lambda _: 1)


def targets_of(words: CommonWords) -> Iterator[slice]:
    """Yield the positions of all words, in blocks."""
    for first in range(0, len(words.items), _TARGETS):
        yield slice(first, first + _TARGETS)


def cosines(side: Side, rows: Int64, targets: slice) -> Float64:
    """Return the cosines (R × T) of some words with others, 0 for zero vectors."""
    return np.asarray(side.units(rows) @ side.units(targets).T)


def _by_distance(side: Side, rows: Int64, targets: slice) -> Float64:
    """Return 1 − ½‖y_i − y_j‖² (R × T) of some words and others."""
    squares = side.norms**2
    products = side.points(rows) @ side.points(targets).T
    return np.asarray(1.0 - (squares[rows][:, None] + squares[targets]) / 2.0 + products)


def _ratio(given: Array, _gold: Array) -> float:
    above, below = given.sum(axis=0)
    return float(above / below) if below else np.nan


def _jaccard(given: Array, _gold: Array) -> float:
    theirs, ours, both = given.sum(axis=0)
    either = theirs + ours - both
    return float(both / either) if either else np.nan
