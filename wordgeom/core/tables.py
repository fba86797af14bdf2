"""Tables as lines of text: aligned columns, or Markdown."""

from __future__ import annotations

from collections.abc import Sequence

Rows = Sequence[Sequence[str]]


def aligned(rows: Rows, words: int = 1, *, last: int = 0) -> list[str]:
    """Return the rows as aligned columns, the first `words` and the `last` ones to the left."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    sides = "<" * words + ">" * (len(widths) - words - last) + "<" * last
    return [
        "  ".join(f"{cell:{side}{width}}" for cell, side, width in line).rstrip()
        for line in (zip(row, sides, widths, strict=True) for row in rows)
    ]


def markdown_table(rows: Rows, words: int = 1) -> list[str]:
    """Return the rows, a head first, as Markdown, the first `words` columns to the left."""
    head, *others = [[cell.strip().replace("|", "\\|") for cell in row] for row in rows]
    rule = ["---"] * words + ["---:"] * (len(head) - words)
    return [f"| {' | '.join(row)} |" for row in (head, rule, *others)]
