"""Which words of a set have a vector, and why the others are left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Float32, Int64
from wordgeom.evaluation.word_lookup import Lookup

MISSING = "words without a vector"
ZERO = "words whose vector is zero or not finite"
SAME = "words that differ from an earlier one in case only"


@dataclass(frozen=True)
class Coverage:
    """items (n): places of the words that have a vector; rows (n) int64; why not, per word."""

    items: Int64
    rows: Int64
    reasons: list[str]


def has_direction(vector: Float32) -> bool:
    """Tell whether a vector (K) is finite and not zero."""
    # One at a time: a set asks for few of the millions of words that a file may hold.
    return bool(np.isfinite(vector).all() and vector.any())


def cover_words(words: Sequence[str], lookup: Lookup) -> Coverage:
    """Look all words of a set up; none of the words may stand there twice."""
    seen: set[str] = set()
    rows, reasons = [], []
    for word in words:
        row, key = lookup.row(word), lookup.key(word)
        reason = MISSING if row is None else "" if has_direction(lookup.matrix[row]) else ZERO
        reasons.append(reason or (SAME if key in seen else ""))
        rows.append(-1 if row is None else row)
        seen.add(key)
    items = np.array([k for k, reason in enumerate(reasons) if not reason], np.int64)
    return Coverage(items, np.array(rows, np.int64)[items], reasons)
