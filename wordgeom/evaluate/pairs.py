"""Files of word pairs and how alike people found them: `w1 w2 score` in the forms that occur."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wordgeom.errors import InputError
from wordgeom.evaluate.lines import read_lines

_COMMENT = "#"
_SIGNS, _BLANKS = ("\t", ";", ","), ""
_FIRST = ("word1", "w1", "worda")  # heads of columns, without blanks and signs
_SECOND = ("word2", "w2", "wordb")
_SCORE = (
    "score", "similarity", "sim", "simlex999", "relatedness", "rating", "mean", "humanmean",
    "average", "averagescore", "gold",
)  # fmt: skip
_DO = "write two words and a number a line"


@dataclass(frozen=True)
class Pair:
    """Two words and the score that people gave them."""

    left: str
    right: str
    score: float


def read_pairs(path: str | Path) -> list[Pair]:
    """Read pairs, separated the same way on every line: by tabs, semicolons, commas or blanks.

    A first line whose score is no number names the columns; without names that are known, and
    without such a line, the first three columns count. Lines that start with # are comments. Raises
    what `read_lines` raises; InputError for a line without two words and a finite number, naming
    it, and for a file without a pair.
    """
    lines = [(n, line) for n, line in read_lines(path) if not line.startswith(_COMMENT)]
    separator = _separator([line for _, line in lines])
    rows = [(number, _fields(line, separator)) for number, line in lines]
    columns = (0, 1, 2)
    if rows and _number(rows[0][1], 2) is None:
        columns = _columns(rows[0][1])
        rows = rows[1:]
    if not rows:
        raise InputError("holds no pair", where=path, do=_DO)
    return [_pair(fields, columns, f"{path} line {number}") for number, fields in rows]


def _separator(lines: Sequence[str]) -> str:
    """Return the sign that cuts most lines in three: not all, so that a bad one is told as bad."""
    for sign in _SIGNS:
        if 2 * sum(line.count(sign) >= 2 for line in lines) > len(lines):
            return sign
    return _BLANKS


def _fields(line: str, separator: str) -> list[str]:
    return [field.strip() for field in line.split(separator or None)]


def _columns(heads: Sequence[str]) -> tuple[int, int, int]:
    """Return where the first line says that the words and the score stand."""
    names = ["".join(filter(str.isalnum, head.lower())) for head in heads]

    def place(known: Sequence[str], otherwise: int) -> int:
        return next((names.index(name) for name in known if name in names), otherwise)

    return place(_FIRST, 0), place(_SECOND, 1), place(_SCORE, 2)


def _pair(fields: Sequence[str], columns: tuple[int, int, int], where: str) -> Pair:
    left, right, score = columns
    if len(fields) <= max(columns) or not fields[left] or not fields[right]:
        found = repr(" ".join(fields)[:60])
        raise InputError("is not two words and a score", where=where, found=found, do=_DO)
    value = _number(fields, score)
    if value is None:
        found = repr(fields[score][:60])
        raise InputError("the score is not a number", where=where, found=found, do=_DO)
    return Pair(fields[left], fields[right], value)


def _number(fields: Sequence[str], place: int) -> float | None:
    try:
        value = float(fields[place])
    except (ValueError, IndexError):
        return None
    return value if math.isfinite(value) else None
