"""Read word pairs with human similarity scores: `w1 w2 score`, in all common file formats."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.evaluation.score_column import find_score
from wordgeom.evaluation.tables import (
    FIRST,
    SECOND,
    Row,
    Table,
    complete_rows,
    parsed,
    read_table,
    shortened,
)

_LABEL_ROWS = 10  # rows to each of its values that a column of labels has, at least
_PARTS = frozenset((
    "n", "v", "a", "r", "j", "s", "nn", "vb", "jj", "rb", "noun", "verb", "adj", "adv",
    "adjective", "adverb",
))  # fmt: skip
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+")
_DO = "write two words and a number on each line"
_DO_ORDER = "write word, word, score in this order, or add a header word1, word2, score"
_DO_JOIN = f"{_DO}, or join a file of scores: paste pairs.txt scores.txt > set.txt"
_DO_POINT = "use a decimal point, not a comma"


@dataclass(frozen=True)
class Pair:
    """Two words and their human similarity score."""

    left: str
    right: str
    score: float


@dataclass(frozen=True)
class PairList:
    """The pairs of a file, the number of lines left out by reason, and notes on the reading."""

    pairs: tuple[Pair, ...]
    excluded: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def read_pairs(path: str | Path) -> list[Pair]:
    """Read word pairs; raises what `read_pair_list` raises."""
    return list(read_pair_list(path).pairs)


def read_pair_list(path: str | Path) -> PairList:
    """Read word pairs separated by tabs, semicolons, commas or white space.

    The words and the score are found by the names in a header, or else by position, after an index
    column. Delimited fields may be quoted, as in CSV. Lines that start with # are comments; an
    incomplete last line is left out. Raises what `read_lines` and `find_score` raise; InputError
    for a line without two words and a finite number, naming the line, and for a file without pairs.
    """
    return pair_list(read_table(path))


def pair_list(table: Table) -> PairList:
    """Return the pairs of a table; raises what `read_pair_list` raises."""
    if not table.rows:
        raise InputError("no word pairs in the file", where=table.path, do=_DO)
    left, right = _words(table)
    score, note = find_score(table, (left, right))
    columns = left, right, score
    if table.width == 2 and not table.numeric:
        row = table.rows[0]
        found = shortened(row)
        raise InputError(
            "expected a score after two words", where=row.where, found=found, do=_DO_JOIN
        )
    rows, excluded = complete_rows(table, columns)
    pairs = tuple(_pair(row, columns) for row in rows)
    notes = tuple(each for each in (_words_note(table, columns), note) if each)
    return PairList(pairs, excluded, notes)


def _words(table: Table) -> tuple[int, int]:
    """Return the columns of the two words; raises InputError if one has numbers and no name."""
    left, right = table.find(FIRST), table.find(SECOND)
    if left is not None and right is not None:
        return left, right
    first, second = _words_by_place(table)
    if left is None:
        left = first
    if right is None:
        right = second if second > left else left + 1
    numbers = next((column for column in (left, right) if column in table.numeric), None)
    if numbers is not None:
        what = f"{table.called(numbers)} has numbers instead of words"
        raise InputError(what, where=table.path, do=_DO_ORDER)
    return left, right


def _words_by_place(table: Table) -> tuple[int, int]:
    """Return the two columns of words, without those of labels where others are left."""
    first = table.first
    score = next((c for c in table.numeric if c > first), table.width)
    words = [c for c in range(first, score) if not _has_labels(table, c)]
    if score - first < 3 or len(words) < 2:
        return first, first + 1
    return words[0], words[1]


def _has_labels(table: Table, column: int) -> bool:
    """Return whether a column has parts of speech, or few values in many rows."""
    values = [row.fields[column].lower() for row in table.rows if column < len(row.fields)]
    distinct = set(values)
    return distinct <= _PARTS or _LABEL_ROWS * len(distinct) <= len(values)


def _words_note(table: Table, columns: tuple[int, int, int]) -> str:
    """Return a note if a column before the score might be one of the words, else ""."""
    left, right, score = columns
    named = table.name(left) in FIRST and table.name(right) in SECOND
    others = set(range(table.first, score)) - {left, right, *table.numeric}
    if named or not others:
        return ""
    return f"words are those of {table.called(left)} and {table.called(right)}"


def _pair(row: Row, columns: tuple[int, int, int]) -> Pair:
    left, right, score = columns
    fields = row.fields
    if len(fields) <= max(columns) or not fields[left] or not fields[right]:
        what = "expected two words and a score"
        raise InputError(what, where=row.where, found=shortened(row), do=_DO)
    value = parsed(fields[score])
    if value is None or not math.isfinite(value):
        found = repr(fields[score][:60])
        do = _DO_POINT if _DECIMAL_COMMA.fullmatch(fields[score]) else _DO
        raise InputError("the score is not a number", where=row.where, found=found, do=do)
    return Pair(fields[left], fields[right], value)
