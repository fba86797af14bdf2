"""Whole numbers in the values of options, such as `3-6` and `1/8`."""

from __future__ import annotations

_DIGITS = 9


def whole_numbers(text: str, between: str) -> list[int]:
    """Return the numbers of a text that `between` separates, nothing for another text."""
    parts = text.split(between)
    fits = all(part.isascii() and part.isdecimal() and len(part) <= _DIGITS for part in parts)
    return [int(part) for part in parts] if fits else []
