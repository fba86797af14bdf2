"""Items with out-of-vocabulary words: left out and counted, or scored as zero."""

from __future__ import annotations

from collections.abc import Mapping

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array
from wordgeom.evaluation.options import ZERO


def exclude_missing(
    reasons: Mapping[str, Array], oov: str, scored_as: str
) -> tuple[dict[str, int], tuple[str, ...]]:
    """Return the number of excluded items by reason, and notes on items that `zero` scores.

    reasons: a mask of items (n, bool) per reason; oov: the policy; scored_as: how `zero` scores.
    """
    counts = {reason: int(mask.sum()) for reason, mask in reasons.items() if mask.any()}
    if oov != ZERO:
        return counts, ()
    return {}, tuple(f"{reason}, {scored_as}: {n:,}" for reason, n in counts.items())


def no_known_items(path: str, items: str) -> InputError:
    """Return the error for a set none of whose items has a vector for each word."""
    do = "check the language and letter case, or pass --restrict-vocab 0"
    return InputError(f"none of its {items} has vectors for all its words", where=path, do=do)
