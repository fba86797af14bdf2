"""Items of an evaluation set that are left out: why, and how many.

Repeated and contradictory lines are left out. Items with out-of-vocabulary words are left out too,
or scored as zero.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array
from wordgeom.evaluation.answers import Answers
from wordgeom.evaluation.options import ZERO

LEAST = 10  # answered items of a set that lacks some: fewer score by chance
_FEW = ("similarity", "analogies")  # tasks that this holds for
DEGENERATE = "train again"  # advice where vectors are zero or not finite


def exclusions(
    keys: Sequence[Hashable], answers: Sequence[Hashable], repeated: str, contradictory: str
) -> list[str]:
    """Return the reason why each line is left out, "" for lines that are used.

    The first line of a key is used, and later lines with the same answer are `repeated`. If two
    lines of a key differ, the right answer is unknown: all lines of the key are `contradictory`.
    """
    first: dict[Hashable, Hashable] = {}
    disputed: set[Hashable] = set()
    repeats = []
    for key, answer in zip(keys, answers, strict=True):
        repeats.append(key in first)
        if first.setdefault(key, answer) != answer:
            disputed.add(key)
    return [
        contradictory if key in disputed else repeated if repeat else ""
        for key, repeat in zip(keys, repeats, strict=True)
    ]


def count_reasons(reasons: Iterable[str]) -> dict[str, int]:
    """Return the number of lines by reason, without lines that are used ("")."""
    return {reason: n for reason, n in Counter(reasons).items() if reason}


def add_counts(*parts: Mapping[str, int]) -> dict[str, int]:
    """Return the sums of counts by reason, without zeros."""
    return dict(sum(map(Counter, parts), Counter()))


def with_exclusions(found: str, excluded: Mapping[str, int]) -> str:
    """Return `found`, followed by the numbers of excluded lines, for an error message."""
    reasons = ", ".join(f"{reason}: {number:,}" for reason, number in excluded.items())
    return f"{found} (left out: {reasons})" if reasons else found


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


def too_few(answers: Answers) -> InputError | None:
    """Return why a set has no score: too few answered items, where others have no vectors."""
    lacking = any("vector" in reason for reason in answers.excluded)
    if answers.task not in _FEW or not lacking or len(answers.items) >= LEAST:
        return None
    what = f"{len(answers.items)} of {answers.total:,} items can be answered"
    do = f"a score needs {LEAST}"
    return InputError(what, do=do)


def no_known_items(path: str, items: str, undirected: int, unread: int) -> InputError:
    """Return the error for a set none of whose items has a usable vector for each word.

    undirected: number of items with a word whose vector is zero or not finite; unread: number of
    words beyond --restrict-vocab.
    """
    do = "check the language and the spelling"
    do += ", or pass --restrict-vocab 0 to eval" if unread else ""
    read = f"{items} read"
    if undirected:
        read += f", {undirected:,} with a vector that is zero or not finite"
        do = DEGENERATE
    return InputError(f"no item has vectors for all its words ({read})", where=path, do=do)
