"""Repeated and contradictory lines of an evaluation set, and counts of excluded lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence


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
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return {reason: n for reason, n in total.items() if n}


def with_exclusions(found: str, excluded: Mapping[str, int]) -> str:
    """Return `found`, followed by the numbers of excluded lines, for an error message."""
    reasons = ", ".join(f"{reason}: {number:,}" for reason, number in excluded.items())
    return f"{found} (left out: {reasons})" if reasons else found
