"""Semi-supervised MDS with --propagate: the start vectors, moved by propagation of the scores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeVar

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural
from wordgeom.core.types import Float64, Int64
from wordgeom.evaluation.similarity import pearson
from wordgeom.linalg.blas import one_thread
from wordgeom.methods.contract import Result, Status
from wordgeom.methods.ssmds.propagation import Frame, propagate
from wordgeom.methods.ssmds.propagation_choice import Choice, choose
from wordgeom.methods.ssmds.report import displacements, relative_displacements
from wordgeom.methods.ssmds.start import Start
from wordgeom.methods.ssmds.supervision import Supervision
from wordgeom.runtime.context import Context
from wordgeom.transforms.fit.scored_pairs import ScoredPairs
from wordgeom.vectors.postprocess import Moments

_Item = TypeVar("_Item")
_Value = TypeVar("_Value")
MOST_PAIRS = 5_000
_SQUARES = 6  # m × m float64 arrays of a regression; as many of words × words
_OF_A_FOLD = 0.64  # of these: four fifths of the words and at most of the pairs are trained on
_MOVED = 1e-5  # displacement above rounding, relative to the length


def bytes_of(pairs: Supervision, threads: int) -> int:
    """Return the memory that the regressions need. Raises InputError for too many pairs."""
    m, u = len(pairs.scores), len(pairs.words)
    if m > MOST_PAIRS:
        what = f"--propagate takes time that grows with the cube of the pairs, {m:,}"
        raise InputError(what, do=f"pass at most {MOST_PAIRS:,}")
    return int(8 * _SQUARES * (m**2 + u**2) * max(1.0, _OF_A_FOLD * threads))


def spread(start: Start, pairs: Supervision, context: Context, *, given: bool) -> Result:
    """Return the start vectors after propagation, or as they are where no strength is better.

    given: whether the start vectors are those of a file, which may have any rank.
    """
    with one_thread():  # plain BLAS adds in an order that depends on the threads
        words, scored = _with_vectors(start.vectors, pairs)
        own = start.vectors[words]
        units, each = Frame.of(start.vectors).inwards(own), partial(_followed, context)
        choice = choose(units, scored, own, context.seed, each)
        vectors = (
            start.vectors.astype(np.float32)
            if choice.strength is None
            else propagate(start.vectors, words, scored, choice.strength)
        )
        rank, K = Moments.of(vectors).rank, vectors.shape[1]
    deficient = rank < K and not given
    notes = [*start.notes, *pairs.notes, *_notes(choice, pairs, scored)]
    if deficient:
        notes.append(f"the vectors span {rank} of {K} dimensions; lower --dim")
    relative = relative_displacements(start.vectors, vectors)
    supervised, others = displacements(start.vectors, relative, words)
    both = (own, vectors[words].astype(np.float64))
    began, ended = (pearson(scored.cosines(at), scored.scores) for at in both)
    strength = choice.strength
    statistics = {
        **pairs.counts, "pairs": len(scored.scores),
        "pairs_without_vector": len(pairs.scores) - len(scored.scores),
        "words_supervised": len(words), "folds": choice.folds,
        "strength_of_metric": strength.metric if strength else None,
        "strength_of_displacement": strength.displacement if strength else None,
        "power": strength.power if strength else None,
        "cross_validated_at_start": _number(choice.before),
        "cross_validated_best": _number(choice.after),
        "correlation_at_start": _number(began), "correlation": _number(ended),
        "words_moved": int(np.count_nonzero(relative > _MOVED)),
        "moved_supervised": supervised, "moved_others": others,
        "effective_rank": rank,
    }  # fmt: skip
    status = Status.of(missed=False, deficient=deficient)
    return Result(vectors, {}, notes, statistics, status)


def _followed(
    context: Context, function: Callable[[_Item], _Value], items: Sequence[_Item]
) -> Iterator[_Value]:
    """Yield function(item) in order, computed by the threads, with a progress bar."""
    values = context.pool.map(function, items)
    return context.progress.follow(values, "strengths", len(items), "fits", lambda _: 1)


def _with_vectors(vectors: Float64, pairs: Supervision) -> tuple[Int64, ScoredPairs]:
    """Return the pairs whose words both have a vector other than 0, and the rows of the words."""
    nonzero = np.any(vectors[pairs.words], axis=1)
    used = nonzero[pairs.left] & nonzero[pairs.right]
    rows = np.array(pairs.rows)[:, used]
    words, places = np.unique(rows, return_inverse=True)
    left, right = places.reshape(rows.shape)
    return words, ScoredPairs(left, right, pairs.scores[used])


def _notes(choice: Choice, pairs: Supervision, scored: ScoredPairs) -> list[str]:
    """Return notes on pairs without vectors, and on vectors that stay as they are."""
    notes = []
    if without := len(pairs.scores) - len(scored.scores):
        notes.append(f"{plural(without, 'pair')} with a word whose vector is zero: left out")
    stay = "the vectors stay as they are"
    if not choice.folds:
        number = plural(len(scored.scores), "pair")
        do = "supply more pairs, of more words"
        notes.append(f"{number} cannot be cross-validated by folds of words: {stay}; {do}")
    elif choice.strength is None:
        what = "no strength improves the correlation of held-out pairs"
        notes.append(f"{what}: {stay}")
    return notes


def _number(value: float) -> float | None:
    """Return a number that a run card can hold: None for nan."""
    return float(value) if np.isfinite(value) else None
