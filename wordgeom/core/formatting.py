"""Counts and lists in English."""

from __future__ import annotations

from collections.abc import Sequence


def several(number: int, one: str, more: str) -> str:
    """Return the number with its singular or plural: `1 page is empty`, `2 pages are empty`."""
    return f"{number:,} {one if number == 1 else more}"


def plural(number: int, noun: str) -> str:
    """Return `1 page` or `2 pages`."""
    return several(number, noun, f"{noun}s")


def listed(names: Sequence[str], word: str = "and") -> str:
    """Return `a`, `a and b` or `a, b and c`; word: and, or."""
    *others, last = names
    return f"{', '.join(others)} {word} {last}" if others else last
