"""Read a validation back from a run card."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wordgeom.evaluation.answers import Score
from wordgeom.imputation.validation import Validation


def read_validation(facts: object) -> Validation | None:
    """Return the validation that `Validation.to_dict` wrote, None if `facts` is malformed."""
    if not isinstance(facts, Mapping):
        return None
    try:
        saved = Validation(
            int(facts["folds"]),
            int(facts["candidates"]),
            _scores(facts["scores"]),
            _scores(facts["differences"]),
            tuple(map(str, facts["notes"])),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None
    measures = {len(found) for found in (*saved.scores.values(), *saved.differences.values())}
    consistent = len(measures) == 1 and 0 not in measures
    return saved if consistent and saved.differences.keys() < saved.scores.keys() else None


def _scores(facts: Mapping[str, list[dict[str, Any]]]) -> dict[str, list[Score]]:
    return {name: [_score(each) for each in found] for name, found in facts.items()}


def _score(facts: Mapping[str, Any]) -> Score:
    task, name, measure = (str(facts[key]) for key in ("task", "set", "measure"))
    value, low, high = (
        math.nan if facts[key] is None else float(facts[key]) for key in ("score", "low", "high")
    )
    used, total = int(facts["used"]), int(facts["total"])
    return Score(task, name, measure, value, low, high, used, total)
