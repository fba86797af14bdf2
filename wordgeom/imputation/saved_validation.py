"""A validation read back from a run card, where it was kept as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from wordgeom.evaluation.answers import Score
from wordgeom.imputation.validation import Validation


def read_validation(facts: object) -> Validation | None:
    """Return what `Validation.to_dict` gave, or None where this is nothing of the kind."""
    if not isinstance(facts, Mapping):
        return None
    try:
        held = Validation(
            int(facts["folds"]),
            int(facts["candidates"]),
            _scores(facts["scores"]),
            _scores(facts["differences"]),
            tuple(map(str, facts["notes"])),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError):
        return None
    measures = {len(found) for found in (*held.scores.values(), *held.differences.values())}
    whole = len(measures) == 1 and 0 not in measures
    return held if whole and held.differences.keys() < held.scores.keys() else None


def _scores(facts: Mapping[str, list[dict[str, Any]]]) -> dict[str, list[Score]]:
    return {name: [_score(each) for each in found] for name, found in facts.items()}


def _score(facts: Mapping[str, Any]) -> Score:
    task, name, measure = (str(facts[key]) for key in ("task", "set", "measure"))
    value, low, high = (
        math.nan if facts[key] is None else float(facts[key]) for key in ("score", "low", "high")
    )
    used, total = int(facts["used"]), int(facts["total"])
    return Score(task, name, measure, value, low, high, used, total)
