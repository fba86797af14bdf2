"""Cross-validate imputation: hide known vectors, predict them, and score the predictions.

Every known entity is hidden in one fold, which depends on the names of the known entities and the
seed, not on the order of the rows. The scores of a predictor are the cosine of prediction and true
vector, and the rank of the true vector among all known vectors by cosine with the prediction. Ties
get their mean rank, so that a zero prediction has no advantage. A prediction that copies a visible
vector ranks that one first; its best rank is 2.
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
MAX_HIDDEN = 10_000  # entities hidden: ranks cost hidden × known cosines
_FIRST = 10
_ROWS = 256  # rows per block of cosines
_TIE = 1e-9  # cosines closer than this count as equal, so that rounding does not rank them
_TASK = "imputation"
_EASIER = "unknown entities are usually rarer than known ones: expect lower scores for them"


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
    """Scores of predictors, and the differences between the first and each other.

    scores, differences: by predictor name; candidates: number of vectors that are ranked.
    """

    folds: int
    candidates: int
    scores: Mapping[str, list[Score]]
    differences: Mapping[str, list[Score]]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the validation as JSON-compatible values."""
        facts = {"folds": self.folds, "candidates": self.candidates, "notes": list(self.notes)}
        for name in ("scores", "differences"):
            scored: Mapping[str, list[Score]] = getattr(self, name)
            facts[name] = {key: [score_facts(s) for s in each] for key, each in scored.items()}
        return facts


def validate(
    predictors: Mapping[str, Predict], anchors: Float64, folds: int, context: Context
) -> Validation:
    """Hide the anchors (p × K) fold by fold and score each predictor; imputation is the first.

    The anchors are in the order of `name_order`, so that folds and intervals depend on names alone.
    Raises OptionError for fewer nonzero anchors than folds.
    """
    fold, notes = _dealt(anchors, folds, context.seed)
    hidden = np.flatnonzero(fold != TRAIN_ONLY)
    predicted = {name: np.empty((len(hidden), anchors.shape[1])) for name in predictors}
    numbers = context.progress.follow(iter(range(folds)), "validation", folds, "folds", lambda _: 1)
    for number in numbers:
        asked, visible = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        for name, predict in predictors.items():
            predicted[name][fold[hidden] == number] = predict(asked, visible)
    answers = {
        name: _answers(name, given, anchors, hidden, context) for name, given in predicted.items()
    }
    first, *others = answers
    return Validation(
        folds,
        len(anchors),
        {name: scores(each, RESAMPLES, context.seed) for name, each in answers.items()},
        {name: _differences(answers[name], answers[first], context.seed) for name in others},
        (*notes, _EASIER),
    )


def check_folds(anchors: Float64, folds: int) -> Int64:
    """Return the anchors (of p × K) that can be hidden: those that are not 0.

    Raises OptionError if they are fewer than the folds.
    """
    nonzero = np.flatnonzero(anchors.any(axis=1))
    if len(nonzero) < folds:
        what = f"--validate {folds} needs at least {folds} known vectors that are not 0"
        raise OptionError(what, found=f"{len(nonzero):,}", do="use fewer folds")
    return nonzero


def _dealt(anchors: Float64, folds: int, seed: int) -> tuple[Int64, list[str]]:
    """Return the fold of each anchor (p), TRAIN_ONLY for those that are never hidden, and notes."""
    rng = np.random.default_rng(seed)
    chosen, notes = check_folds(anchors, folds), []
    if len(chosen) < len(anchors):
        zeros = several(len(anchors) - len(chosen), "known vector is 0", "known vectors are 0")
        notes.append(f"{zeros} and never hidden")
    if len(chosen) > MAX_HIDDEN:
        count = f"{MAX_HIDDEN:,} of {len(chosen):,} known vectors"
        notes.append(f"{count}, drawn at random, are hidden")
        chosen = np.sort(rng.choice(chosen, MAX_HIDDEN, replace=False))
    fold = np.full(len(anchors), TRAIN_ONLY, np.int64)
    fold[chosen] = assign_folds(np.zeros(len(chosen), np.int64), folds, rng)
    return fold, notes


def _differences(baseline: Answers, ours: Answers, seed: int) -> list[Score]:
    return [difference(baseline, ours, measure, RESAMPLES, seed) for measure in MEASURES]


def _answers(
    name: str, predicted: Float64, anchors: Float64, hidden: Int64, context: Context
) -> Answers:
    """Return the cosine and rank of each hidden vector (hidden × 2) as answers to score."""
    given = cosines_and_ranks(predicted, anchors, hidden, context)
    total = len(hidden)
    return Answers(_TASK, name, MEASURES, np.arange(total), given, np.zeros(total))


def cosines_and_ranks(
    predicted: Float64, anchors: Float64, hidden: Int64, context: Context
) -> Float64:
    """Return each prediction's cosine with the true vector, and the latter's rank (hidden × 2).

    predicted (hidden × K); hidden: rows of anchors (p × K). Rank 1 is best.
    """
    answers, directions = _unit(predicted), _unit(anchors)

    def block(start: int) -> Float64:
        rows = slice(start, start + _ROWS)
        cosines = np.clip(answers[rows] @ directions.T, -1, 1)
        own = cosines[np.arange(len(cosines)), hidden[rows]]
        better = np.sum(cosines > own[:, None] + _TIE, axis=1)
        equal = np.sum(np.abs(cosines - own[:, None]) <= _TIE, axis=1)  # includes itself
        return np.column_stack((own, better + (equal + 1) / 2))

    with deterministic_estimators():
        return np.concatenate(list(context.pool.map(block, range(0, len(hidden), _ROWS))))


def _unit(matrix: Float64) -> Float64:
    """Return unit rows; zero rows stay 0."""
    largest = np.abs(matrix).max(axis=1, keepdims=True)
    scaled = matrix / np.where(largest == 0, 1, largest)
    lengths: Array = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(lengths == 0, 1, lengths))
