"""Parse the cells of a delimited table: numbers, truth values, missing values, or text."""

from __future__ import annotations

import math

_MISSING = frozenset(["", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "-"])
_TRUTH = {"true": 1.0, "false": 0.0}  # as pandas and R write one-hot tables


def is_truth(cell: str) -> bool:
    """Return whether a cell is true or false."""
    return cell.strip().lower() in _TRUTH


def number_of(cell: str) -> float | None:
    """Return a cell's number (1 and 0 for true and false), nan if missing, None if it is text."""
    try:
        # Python parses 1_000 as a number; in a table it is text.
        return None if "_" in cell else float(cell)
    except ValueError:
        word = cell.strip().lower()
        return math.nan if word in _MISSING else _TRUTH.get(word)
