"""Warnings about inputs after they were read: skipped content, empty files, suspicious text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from wordgeom.core.formatting import several
from wordgeom.corpus.inputs import hard_wrapping, misread_records
from wordgeom.corpus.inputs.readers import Source

_SHOWN = 3


def input_warnings(sources: Sequence[Source]) -> list[str]:
    """Return a line each for skipped content, empty files, misread records and hard wrapping."""
    lines = []
    counts: Counter[str] = Counter()
    for source in sources:
        counts.update(source.counts)
    if counts:
        each = ", ".join(f"{what}: {number:,}" for what, number in sorted(counts.items()))
        lines.append(f"skipped: {each}")
    empty = [source.name for source in sources if source.empty]
    if empty and len(sources) > 1:
        more = ", …" if len(empty) > _SHOWN else ""
        lines.append(f"empty input: {', '.join(empty[:_SHOWN])}{more}")
    for format_name in sorted({source.looks for source in sources} - {""}):
        alike = [source.name for source in sources if source.looks == format_name]
        lines.append(misread_records.warning(alike[0], format_name) + _others(len(alike)))
    if wrapped := [source for source in sources if source.wrapped]:
        warning = hard_wrapping.warning(wrapped[0].name, wrapped[0].wrapped)
        lines.append(warning + _others(len(wrapped)))
    return lines


def _others(files: int) -> str:
    return f" (also {several(files - 1, 'other file', 'other files')})" if files > 1 else ""
