"""Counts, sizes and lists in English; tables as aligned columns or Markdown."""

from __future__ import annotations

from collections.abc import Sequence

Rows = Sequence[Sequence[str]]
_UNITS = (("TB", 10**12), ("GB", 10**9), ("MB", 10**6), ("KB", 10**3))
_LONGEST = 30  # characters of a name in a list
_DIGITS, _MOST_DIGITS = 3, 16  # significant digits of a size


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


def first_sentence(text: object, most: int = 80) -> str:
    """Return the first sentence of another program's message, without its full stop."""
    return " ".join(str(text).split()).split(". ")[0].rstrip(".")[:most]


def first_few(names: Sequence[str], most: int = 5) -> str:
    """Return the first names, shortened, as a list that ends in … where there are more."""
    shown = [name if len(name) <= _LONGEST else f"{name[:_LONGEST]}…" for name in names[:most]]
    return ", ".join([*shown, *(["…"] if len(names) > most else [])])


def readable_size(number: int, digits: int = _DIGITS) -> str:
    """Return a number of bytes in its largest unit: `512 bytes`, `4.1 KB`, `1.25 GB`."""
    if number == 1:
        return "1 byte"
    least = 1 - 0.5 / 10**digits  # 999.9 MB rounds to 1 GB
    unit, scale = next((u for u in _UNITS if number >= least * u[1]), ("bytes", 1))
    decimals = max(0, digits - len(str(number // scale))) if scale > 1 else 0
    text = f"{number / scale:,.{decimals}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {unit}"


def exceeding(needed: int, limit: int) -> tuple[str, str]:
    """Return two sizes with as many digits as it takes to tell them apart."""
    for digits in range(_DIGITS, _MOST_DIGITS):
        one, other = readable_size(needed, digits), readable_size(limit, digits)
        if one != other:
            break
    return one, other


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


def install(extra: str) -> str:
    """Return the advice to install an extra of the package."""
    return f"run pip install 'wordgeom[{extra}]'"
