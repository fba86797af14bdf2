"""Detect hard-wrapped text: lines that end in mid-sentence, near a common width."""

from __future__ import annotations

from itertools import pairwise

_LINES = 2_000  # lines checked
_BYTES = 1 << 20  # bytes checked
_FEWEST = 20  # pairs of adjacent lines that a decision needs
_NARROWEST, _WIDEST = 40, 200  # characters
_WORD = 15  # characters of the next word at most, for which a line lacked room
_SHARE = 0.4
_ENDS = (".", "!", "?", "…", "。", "\uff01", "\uff1f", "।")  # including full-width ! and ?
_CLOSING = "\"'”’»)]*_"


def detect(text: bytes) -> dict[str, float]:
    """Return `share` and `width` if the first lines of a text look hard-wrapped, else nothing.

    share: of the lines with another line below, the fraction that neither end a sentence nor have
    room for the next word; width: characters of a full line.
    """
    lines = [line.strip() for line in text[:_BYTES].decode("utf-8", "replace").split("\n")[:_LINES]]
    inner = [(line, below) for line, below in pairwise(lines) if line and below]
    if len(inner) < _FEWEST:
        return {}
    width = sorted(len(line) for line, _ in inner)[len(inner) * 19 // 20]
    if not _NARROWEST <= width <= _WIDEST:
        return {}
    share = sum(_continues(line, below, width) for line, below in inner) / len(inner)
    return {"share": round(share, 3), "width": width} if share >= _SHARE else {}


def _continues(line: str, below: str, width: int) -> bool:
    """Return whether a line ends for want of room rather than at the end of a sentence."""
    word = below[:_WORD].split(None, 1)[0]
    return len(line) + 1 + len(word) > width and not line.rstrip(_CLOSING).endswith(_ENDS)


def warning(name: str, wrapped: dict[str, float]) -> str:
    """Return the warning for a text that looks hard-wrapped."""
    return (
        f"{name} looks hard-wrapped: {wrapped['share']:.0%} of its first lines end in mid-sentence "
        f"near {wrapped['width']:.0f} characters, but each line is a document; "
        "pass --document block"
    )
