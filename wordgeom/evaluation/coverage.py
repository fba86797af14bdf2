"""Find the words of a set that have usable vectors, and why the others do not."""

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
    """items (n): indices of the usable words; rows (n): their rows; reasons: "" or why not."""

    items: Int64
    rows: Int64
    reasons: list[str]


def has_direction(vector: Float32) -> bool:
    """Return whether a vector (K) is finite and not zero."""
    # Checked one at a time: a set uses few of the file's words, of which there may be millions.
    return bool(np.isfinite(vector).all() and vector.any())


def cover_words(words: Sequence[str], lookup: Lookup) -> Coverage:
    """Look up all words of a set, which must be distinct."""
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
