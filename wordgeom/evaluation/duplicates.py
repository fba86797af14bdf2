"""Lines that say again, or otherwise, what an earlier line of a set said."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence


def exclusion_reasons(
    keys: Sequence[Hashable], answers: Sequence[Hashable], repeated: str, contradictory: str
) -> list[str]:
    """Return for each line why it is left out, "" where it stays.

    The first line of a key stays and those that say the same are `repeated`; where two lines of
    a key differ, nobody can tell which is right: all of that key are `contradictory`.
    """
    said: dict[Hashable, Hashable] = {}
    disputed: set[Hashable] = set()
    again = []
    for key, answer in zip(keys, answers, strict=True):
        again.append(key in said)
        if said.setdefault(key, answer) != answer:
            disputed.add(key)
    return [
        contradictory if key in disputed else repeated if seen else ""
        for key, seen in zip(keys, again, strict=True)
    ]


def count_reasons(reasons: Iterable[str]) -> dict[str, int]:
    """Return how often each reason occurs, without those that stay ("")."""
    return {reason: n for reason, n in Counter(reasons).items() if reason}


def add_counts(*parts: Mapping[str, int]) -> dict[str, int]:
    """Return the sums of counts by reason, without those that are 0."""
    total: Counter[str] = Counter()
    for part in parts:
        total.update(part)
    return {reason: n for reason, n in total.items() if n}


def with_exclusions(few: str, excluded: Mapping[str, int]) -> str:
    """Return how little there is, and what was left out of it, for an error."""
    reasons = ", ".join(f"{reason}: {number:,}" for reason, number in excluded.items())
    return f"{few} (left out: {reasons})" if reasons else few
