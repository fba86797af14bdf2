"""How good imputed vectors are, by hiding known ones: folds, cosines, ranks, intervals.

Every known entity is hidden once. A way to predict is judged by the cosine of its answer with the
true vector, and by the true vector's rank among all known entities' vectors by cosine with the
answer; equal cosines share their mean rank, so that an answer without direction gains nothing.
(An answer that is a visible entity's own vector has that entity first: its best rank is 2.)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import several
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.answers import Answers, Measure, Score, difference, scores
from wordgeom.evaluation.cross_validation import TRAIN_ONLY, assign_folds
from wordgeom.evaluation.estimators import deterministic_estimators
from wordgeom.evaluation.report import score_facts
from wordgeom.imputation.baselines import Predict
from wordgeom.runtime.context import Context

MEDIAN_RANK = "median rank (low is good)"
RESAMPLES = 1000
MOST = 10_000  # entities that are hidden: ranks take their number times that of the known
_FIRST = 10
_ROWS = 256  # of a block of cosines
_TIE = 1e-9  # cosines closer than this are equal: rounding must not order them
_TASK = "imputation"


def _mean(column: int) -> Any:
    return lambda given, _: float(np.mean(given[:, column]))


MEASURES = (
    Measure("mean cosine", _mean(0)),
    Measure("mean reciprocal rank", lambda given, _: float(np.mean(1 / given[:, 1]))),
    Measure(MEDIAN_RANK, lambda given, _: float(np.median(given[:, 1]))),
    Measure(f"among first {_FIRST}", lambda given, _: float(np.mean(given[:, 1] <= _FIRST))),
)


@dataclass(frozen=True)
class Validation:
    """Scores of ways to predict, and how much better the first is than each other.

    scores, differences: by the ways' names; candidates: the vectors that ranks are among.
    """

    folds: int
    candidates: int
    scores: Mapping[str, list[Score]]
    differences: Mapping[str, list[Score]]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as JSON has it."""
        facts = {"folds": self.folds, "candidates": self.candidates, "notes": list(self.notes)}
        for name in ("scores", "differences"):
            held: Mapping[str, list[Score]] = getattr(self, name)
            facts[name] = {way: [score_facts(s) for s in found] for way, found in held.items()}
        return facts


def validate(
    ways: Mapping[str, Predict], anchors: Float64, folds: int, context: Context
) -> Validation:
    """Hide the anchors (p × K) fold by fold and judge each way's predictions; the first is ours.

    Raises OptionError where there are fewer anchors with a direction than folds.
    """
    fold, notes = _dealt(anchors, folds, context.seed)
    hidden = np.flatnonzero(fold != TRAIN_ONLY)
    predicted = {way: np.empty((len(hidden), anchors.shape[1])) for way in ways}
    numbers = context.progress.follow(iter(range(folds)), "validation", folds, "folds", lambda _: 1)
    for number in numbers:
        asked, visible = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        for way, predict in ways.items():
            predicted[way][fold[hidden] == number] = predict(asked, visible)
    answers = {
        way: _answers(way, given, anchors, hidden, context) for way, given in predicted.items()
    }
    first, *others = answers
    return Validation(
        folds,
        len(anchors),
        {way: scores(each, RESAMPLES, context.seed) for way, each in answers.items()},
        {way: _differences(answers[way], answers[first], context.seed) for way in others},
        tuple(notes),
    )


def check_folds(anchors: Float64, folds: int) -> Int64:
    """Return which anchors (p × K) can be hidden, those that are not 0.

    Raises OptionError where they are fewer than the folds.
    """
    whole = np.flatnonzero(anchors.any(axis=1))
    if len(whole) < folds:
        what = f"--validate {folds} hides known vectors in as many folds"
        raise OptionError(what, found=f"{len(whole):,} of them", do="ask for fewer folds")
    return whole


def _dealt(anchors: Float64, folds: int, seed: int) -> tuple[Int64, list[str]]:
    """Return the fold of each anchor (p), TRAIN_ONLY for those that are never hidden, and notes."""
    rng = np.random.default_rng(seed)
    whole, notes = check_folds(anchors, folds), []
    if len(whole) < len(anchors):
        zeros = several(len(anchors) - len(whole), "known vector is 0", "known vectors are 0")
        notes.append(f"{zeros}, and never hidden")
    if len(whole) > MOST:
        notes.append(f"{MOST:,} of {len(whole):,} known vectors, drawn at random, are hidden")
        whole = np.sort(rng.choice(whole, MOST, replace=False))
    fold = np.full(len(anchors), TRAIN_ONLY, np.int64)
    fold[whole] = assign_folds(np.zeros(len(whole), np.int64), folds, rng)
    return fold, notes


def _differences(baseline: Answers, ours: Answers, seed: int) -> list[Score]:
    return [difference(baseline, ours, measure, RESAMPLES, seed) for measure in MEASURES]


def _answers(
    way: str, predicted: Float64, anchors: Float64, hidden: Int64, context: Context
) -> Answers:
    """Return cosine and rank of each hidden vector (hidden × 2) as answers to be scored."""
    given = cosines_and_ranks(predicted, anchors, hidden, context)
    total = len(hidden)
    return Answers(_TASK, way, MEASURES, np.arange(total), given, np.zeros(total), total)


def cosines_and_ranks(
    predicted: Float64, anchors: Float64, hidden: Int64, context: Context
) -> Float64:
    """Return each prediction's cosine with its true vector, and that one's rank (hidden × 2).

    predicted (hidden × K); hidden: rows of anchors (p × K). The best rank is 1.
    """
    answers, directions = _unit(predicted), _unit(anchors)

    def block(start: int) -> Float64:
        rows = slice(start, start + _ROWS)
        cosines = np.clip(answers[rows] @ directions.T, -1, 1)
        own = cosines[np.arange(len(cosines)), hidden[rows]]
        better = np.sum(cosines > own[:, None] + _TIE, axis=1)
        equal = np.sum(np.abs(cosines - own[:, None]) <= _TIE, axis=1)  # itself is one of these
        return np.column_stack((own, better + (equal + 1) / 2))

    with deterministic_estimators():
        return np.concatenate(list(context.pool.map(block, range(0, len(hidden), _ROWS))))


def _unit(matrix: Float64) -> Float64:
    """Return rows of length 1, those of zeros as they are."""
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    scaled = matrix / np.where(largest == 0, 1, largest)
    lengths: Array = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(lengths == 0, 1, lengths))
