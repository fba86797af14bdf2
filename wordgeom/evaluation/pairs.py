"""Files of word pairs and how alike people found them: `w1 w2 score` in the forms that occur."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.evaluation.fields import split_fields
from wordgeom.evaluation.lines import read_lines

_COMMENT = "#"
_SIGNS, _BLANKS = ("\t", ";", ","), ""
_FIRST = ("word1", "w1", "worda")  # heads of columns, without blanks and signs
_SECOND = ("word2", "w2", "wordb")
_SCORE = (
    "score", "similarity", "sim", "simlex999", "relatedness", "rating", "mean", "humanmean",
    "average", "averagescore", "gold",
)  # fmt: skip
_DIGIT = re.compile(r"\d")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_DO = "write two words and a number a line"
_DO_POINT = "write it with a decimal point, not a comma"


@dataclass(frozen=True)
class Pair:
    """Two words and the score that people gave them."""

    left: str
    right: str
    score: float


def read_pairs(path: str | Path) -> list[Pair]:
    """Read pairs, separated the same way on every line: by tabs, semicolons, commas or blanks.

    A first line whose score holds no digit names the columns; without names that are known, and
    without such a line, the first three columns count. Between tabs, semicolons and commas fields
    may be quoted, as in CSV. Lines that start with # are comments. Raises what `read_lines` raises;
    InputError for a line without two words and a finite number, naming it, and for a file without
    a pair.
    """
    lines = [(n, line) for n, line in read_lines(path) if not line.startswith(_COMMENT)]
    separator = _separator([line for _, line in lines])
    placed = [(f"{path} line {number}", line) for number, line in lines]
    rows = [(where, _fields(line, separator, where)) for where, line in placed]
    columns = (0, 1, 2)
    if rows and _is_header(rows[0][1]):
        columns = _columns(rows[0][1])
        rows = rows[1:]
    if not rows:
        raise InputError("holds no pair", where=path, do=_DO)
    return [_pair(fields, columns, where) for where, fields in rows]


def _separator(lines: Sequence[str]) -> str:
    """Return the sign that cuts most lines in three: not all, so that a bad one is told as bad."""
    for sign in _SIGNS:
        if 2 * sum(line.count(sign) >= 2 for line in lines) > len(lines):
            return sign
    return _BLANKS


def _fields(line: str, separator: str, where: str) -> list[str]:
    return [field.strip() for field in split_fields(line, separator, where)]


def _is_header(fields: Sequence[str]) -> bool:
    """Return whether the first line names columns: a score that is misspelt is no header."""
    if len(fields) < 3 or _parsed(fields[2]) is not None:
        return False
    names = _names(fields)
    # Names that are known may hold a digit; one alone may be a word of a pair, such as "mean".
    both = any(name in _FIRST for name in names) and any(name in _SECOND for name in names)
    return not _DIGIT.search(fields[2]) or both or names[2] in _SCORE


def _names(heads: Sequence[str]) -> list[str]:
    return ["".join(filter(str.isalnum, head.lower())) for head in heads]


def _columns(heads: Sequence[str]) -> tuple[int, int, int]:
    """Return where the first line says that the words and the score stand."""
    names = _names(heads)

    def place(known: Sequence[str], otherwise: int) -> int:
        return next((names.index(name) for name in known if name in names), otherwise)

    return place(_FIRST, 0), place(_SECOND, 1), place(_SCORE, 2)


def _pair(fields: Sequence[str], columns: tuple[int, int, int], where: str) -> Pair:
    left, right, score = columns
    if len(fields) <= max(columns) or not fields[left] or not fields[right]:
        found = repr(" ".join(fields)[:60])
        raise InputError("is not two words and a score", where=where, found=found, do=_DO)
    value = _parsed(fields[score])
    if value is None or not math.isfinite(value):
        found = repr(fields[score][:60])
        do = _DO_POINT if _DECIMAL_COMMA.fullmatch(fields[score]) else _DO
        raise InputError("the score is not a number", where=where, found=found, do=do)
    return Pair(fields[left], fields[right], value)


def _parsed(field: str) -> float | None:
    try:
        return float(field)
    except ValueError:
        return None
