"""Parse the cells of a delimited table: numbers, markers of missing values, or text."""

from __future__ import annotations

import math

_MISSING = frozenset(["", "na", "n/a", "#n/a", "<na>", "nan", "null", "none", "-"])


def number_of(cell: str) -> float | None:
    """Return a cell's number, nan if it is missing, None if it is anything else."""
    try:
        # Python parses 1_000 as a number; in a table it is text.
        return None if "_" in cell else float(cell)
    except ValueError:
        return math.nan if cell.strip().lower() in _MISSING else None
