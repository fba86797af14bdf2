"""Format a validation as lines of text: an aligned table with notes."""

from __future__ import annotations

import math

from wordgeom.core.formatting import aligned
from wordgeom.evaluation.answers import Score
from wordgeom.imputation.validation import MEDIAN_RANK, RESAMPLES, Validation

_HEAD = (
    "predictor",
    "measure",
    "score",
    "95 % interval",
    "imputation − predictor",
    "95 % interval",
)


def validation_lines(validation: Validation) -> list[str]:
    """Return the scores of every predictor and the differences from imputation."""
    rows = [_HEAD]
    for name, found in validation.scores.items():
        others = validation.differences.get(name)
        for number, score in enumerate(found):
            less = _figures(others[number], "+") if others else ("", "")
            rows.append((name, score.measure, *_figures(score), *less))
    used = next(iter(validation.scores.values()))[0].used
    about = (
        f"{used:,} known vectors hidden in {validation.folds} folds; ranks among "
        f"{validation.candidates:,} known vectors; {RESAMPLES:,} bootstrap resamples"
    )
    return [*aligned(rows, words=2), "", about, *validation.notes]


def _figures(score: Score, sign: str = "") -> tuple[str, str]:
    """Return a score and its interval as text."""
    form = f"{sign},.1f" if score.measure == MEDIAN_RANK else f"{sign}.4f"
    if math.isnan(score.low):
        return f"{score.value:{form}}", "–"
    return f"{score.value:{form}}", f"{score.low:{form}} … {score.high:{form}}"
