"""What a user should hear of the inputs after they were read: what was left out, what looks odd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wordgeom.corpus import wrapping
from wordgeom.corpus.readers import Source


def remarks(sources: Sequence[Source]) -> list[str]:
    """Return a line for what was left out, and one for text that looks hard-wrapped."""
    lines = []
    counts: Counter[str] = Counter()
    for source in sources:
        counts.update(source.counts)
    if counts:
        each = ", ".join(f"{number:,} {what}" for what, number in sorted(counts.items()))
        lines.append(f"left out: {each}")
    if wrapped := [source for source in sources if source.wrapped]:
        more = f" (so do {len(wrapped) - 1:,} more files)" if len(wrapped) > 1 else ""
        lines.append(wrapping.warning(wrapped[0].name, wrapped[0].wrapped) + more)
    return lines
