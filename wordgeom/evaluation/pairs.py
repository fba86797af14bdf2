"""Read word pairs with human similarity scores: `w1 w2 score`, in all common file formats."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.evaluation.lines import read_lines, split_fields

_COMMENT = "#"
_DELIMITERS, _WHITE_SPACE = ("\t", ";", ","), ""
_FIRST = ("word1", "w1", "worda")  # normalised column names: letters and digits only
_SECOND = ("word2", "w2", "wordb")
_SCORE = (
    "score", "similarity", "sim", "simlex999", "relatedness", "rating", "mean", "humanmean",
    "average", "averagescore", "gold",
)  # fmt: skip
_DIGIT = re.compile(r"\d")
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_DO = "write two words and a number on each line"
_DO_POINT = "use a decimal point, not a comma"


@dataclass(frozen=True)
class Pair:
    """Two words and their human similarity score."""

    left: str
    right: str
    score: float


def read_pairs(path: str | Path) -> list[Pair]:
    """Read word pairs separated by tabs, semicolons, commas or white space.

    A first line without a digit in its score field is a header. The words and the score are found
    by the column names in it, or else in the first three columns. Delimited fields may be quoted,
    as in CSV. Lines that start with # are comments. Raises what `read_lines` raises; InputError for
    a line without two words and a finite number, naming the line, and for a file without pairs.
    """
    lines = [(n, line) for n, line in read_lines(path) if not line.startswith(_COMMENT)]
    delimiter = _delimiter([line for _, line in lines])
    placed = [(f"{path} line {number}", line) for number, line in lines]
    rows = [(where, _fields(line, delimiter, where)) for where, line in placed]
    columns = (0, 1, 2)
    if rows and _is_header(rows[0][1]):
        columns = _columns(rows[0][1])
        rows = rows[1:]
    if not rows:
        raise InputError("no word pairs in the file", where=path, do=_DO)
    return [_pair(fields, columns, where) for where, fields in rows]


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that splits most lines in three; a few lines may be malformed."""
    for delimiter in _DELIMITERS:
        if 2 * sum(line.count(delimiter) >= 2 for line in lines) > len(lines):
            return delimiter
    return _WHITE_SPACE


def _fields(line: str, delimiter: str, where: str) -> list[str]:
    return [field.strip() for field in split_fields(line, delimiter, where)]


def _is_header(fields: Sequence[str]) -> bool:
    """Return whether the first line is a header, rather than a pair with a malformed score."""
    if len(fields) < 3 or _parsed(fields[2]) is not None:
        return False
    names = _names(fields)
    # Known column names may contain a digit. A single one may be a word of a pair, such as "mean".
    both = any(name in _FIRST for name in names) and any(name in _SECOND for name in names)
    return not _DIGIT.search(fields[2]) or both or names[2] in _SCORE


def _names(header: Sequence[str]) -> list[str]:
    return ["".join(filter(str.isalnum, name.lower())) for name in header]


def _columns(header: Sequence[str]) -> tuple[int, int, int]:
    """Return the columns of the two words and the score, found by the header's names."""
    names = _names(header)

    def column(known: Sequence[str], default: int) -> int:
        return next((names.index(name) for name in known if name in names), default)

    return column(_FIRST, 0), column(_SECOND, 1), column(_SCORE, 2)


def _pair(fields: Sequence[str], columns: tuple[int, int, int], where: str) -> Pair:
    left, right, score = columns
    if len(fields) <= max(columns) or not fields[left] or not fields[right]:
        found = repr(" ".join(fields)[:60])
        raise InputError("not two words and a score", where=where, found=found, do=_DO)
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
