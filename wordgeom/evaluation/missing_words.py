"""What becomes of items with a word that has no vector: left out and counted, or judged as bad."""

from __future__ import annotations

from collections.abc import Mapping

from wordgeom.core.types import Array
from wordgeom.evaluation.options import ZERO


def exclude_missing(
    reasons: Mapping[str, Array], oov: str, instead: str
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return how many items are left out, by reason, and notes of those that count all the same.

    reasons: items (n, bool) by reason; oov: the policy; instead: how items count under `zero`.
    """
    counted = {why: int(where.sum()) for why, where in reasons.items() if where.any()}
    if oov != ZERO:
        return counted, ()
    return {}, tuple(f"{why}, {instead}: {n:,}" for why, n in counted.items())
