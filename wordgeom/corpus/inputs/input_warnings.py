"""What a user should hear of the inputs after they were read: what was left out, what looks odd."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wordgeom.core.formatting import several
from wordgeom.corpus.inputs import hard_wrapping, misread_records
from wordgeom.corpus.inputs.readers import Source

_SHOWN = 3


def remarks(sources: Sequence[Source]) -> list[str]:
    """Return a line for what was left out, for files of nothing, and for text that looks odd."""
    lines = []
    counts: Counter[str] = Counter()
    for source in sources:
        counts.update(source.counts)
    if counts:
        each = ", ".join(f"{what}: {number:,}" for what, number in sorted(counts.items()))
        lines.append(f"left out: {each}")
    empty = [source.name for source in sources if source.empty]
    if empty and len(sources) > 1:
        more = ", …" if len(empty) > _SHOWN else ""
        lines.append(f"holds nothing: {', '.join(empty[:_SHOWN])}{more}")
    for form in sorted({source.looks for source in sources} - {""}):
        alike = [source.name for source in sources if source.looks == form]
        lines.append(misread_records.warning(alike[0], form) + _more(len(alike)))
    if wrapped := [source for source in sources if source.wrapped]:
        told = hard_wrapping.warning(wrapped[0].name, wrapped[0].wrapped)
        lines.append(told + _more(len(wrapped)))
    return lines


def _more(files: int) -> str:
    more = several(files - 1, "more file", "more files")
    return f" (so {'does' if files == 2 else 'do'} {more})" if files > 1 else ""
