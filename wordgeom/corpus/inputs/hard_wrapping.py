"""Signs of hard-wrapped text: lines that are as full as a width allows and end in mid-sentence."""

from __future__ import annotations

from itertools import pairwise

_LINES = 2_000  # looked at
_BYTES = 1 << 20  # that they may take
_FEWEST = 20  # lines that go on in the next one, before anything is said
_NARROWEST, _WIDEST = 40, 200  # characters
_WORD = 15  # characters of a word that a line may have had no room for
_SHARE = 0.4
_ENDS = (".", "!", "?", "…", "。", "\uff01", "\uff1f", "।")  # full-width ! and ? among them
_CLOSING = "\"'”’»)]*_"


def judge(text: bytes) -> dict[str, float]:
    """Return `share` and `width` where the first lines of a text look hard-wrapped, else nothing.

    share: of the lines with another below them, those without room for its first word, and without
    the end of a sentence; width: characters of a full line.
    """
    lines = [line.strip() for line in text[:_BYTES].decode("utf-8", "replace").split("\n")[:_LINES]]
    inner = [(line, below) for line, below in pairwise(lines) if line and below]
    if len(inner) < _FEWEST:
        return {}
    width = sorted(len(line) for line, _ in inner)[len(inner) * 19 // 20]
    if not _NARROWEST <= width <= _WIDEST:
        return {}
    share = sum(_goes_on(line, below, width) for line, below in inner) / len(inner)
    return {"share": round(share, 3), "width": width} if share >= _SHARE else {}


def _goes_on(line: str, below: str, width: int) -> bool:
    """Tell whether a line ends because the next word did not fit, not because a sentence ends."""
    word = below[:_WORD].split(None, 1)[0]
    return len(line) + 1 + len(word) > width and not line.rstrip(_CLOSING).endswith(_ENDS)


def warning(name: str, wrapped: dict[str, float]) -> str:
    """Return what to tell of a text that looks hard-wrapped."""
    return (
        f"{name} looks hard-wrapped ({wrapped['share']:.0%} of its first lines end in mid-sentence "
        f"near {wrapped['width']:.0f} characters), and a line is a document; pass --document block"
    )
