"""Read an evaluation set as a table: its delimiter, its header, and which columns are numbers.

Published sets have the same content in many forms: with or without a header, with an index column
as pandas and R write it, separated by tabs, semicolons, commas or white space. What the columns
mean is decided in `pairs.py` and `questions.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from wordgeom.core.errors import InputError
from wordgeom.evaluation.lines import read_lines, split_fields

COMMENT = "#"
_DELIMITERS, WHITE_SPACE = ("\t", ";", ","), ""
_SPACE, _FIELD = " ", r'("[^"]*"|[^\s"]+)'
_QUOTED = re.compile(rf"\s*{_FIELD}(\s+{_FIELD})*\s*")  # as R writes tables
_CELL = re.compile(r'"[^"]*("|$)')  # quoted; it may go on in the next line
_INDEX = (
    "", "id", "index", "idx", "no", "nr", "number", "row", "unnamed0", "pair", "pairid", "item",
)  # fmt: skip
_NO_NUMBER = ("", "na", "null", "none", "missing")  # a missing score
_DIGIT = re.compile(r"\d")
FIRST = ("word1", "w1", "worda", "term1", "terma", "verb1", "concept1")
SECOND = ("word2", "w2", "wordb", "term2", "termb", "verb2", "concept2")
MEANS = ("mean", "humanmean", "average", "averagescore", "meanscore", "avg", "avgscore")
SCORES = (
    *MEANS, "score", "similarity", "sim", "simlex999", "relatedness", "rating", "gold",
)  # fmt: skip
# A question's four words; its section.
ROLES = (
    (*FIRST, "a"),
    (*SECOND, "b"),
    ("word3", "w3", "wordc", "term3", "c"),
    ("word4", "w4", "wordd", "term4", "d", "target", "answer", "expected"),
)
OTHER_KINDS = "; for other kinds of sets use --categories, --classify or --regress"
LEFT_OUT = "incomplete last line"


@dataclass(frozen=True)
class Row:
    """A line's fields, and its place for error messages."""

    where: str
    fields: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """The lines of a set, split into fields.

    titles: the header as written, () without one; rows: the other lines.
    """

    path: str
    titles: tuple[str, ...]
    rows: tuple[Row, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The normalised column names."""
        return normalised(self.titles)

    @cached_property
    def width(self) -> int:
        """The number of columns: those of the header, or of most rows."""
        return len(self.titles) or _width(self.rows)

    @cached_property
    def numeric(self) -> tuple[int, ...]:
        """The columns in which most rows have a number, ascending."""
        return _numeric(self.rows)

    @cached_property
    def first(self) -> int:
        """The first column after an index column, which may have any name or none."""
        if self.width < 4:
            return 0
        counted = all(parsed(row.fields[0]) is not None for row in self.rows)
        counted = counted and self.name(0) not in SCORES
        return int(counted or (bool(self.names) and self.names[0] in _INDEX))

    def name(self, column: int) -> str:
        """Return a column's normalised name, "" without a header."""
        return self.names[column] if column < len(self.names) else ""

    def called(self, column: int) -> str:
        """Return what a message calls a column."""
        named = column < len(self.titles) and self.titles[column]
        return f"column {self.titles[column]!r}" if named else f"column {column + 1}"

    def find(self, known: Sequence[str]) -> int | None:
        """Return the column with the first of the known names that occurs once, else None."""
        return next((self.names.index(n) for n in known if self.names.count(n) == 1), None)


def read_table(path: str | Path) -> Table:
    """Read the lines of a set that are not comments.

    A trailing delimiter is ignored. Raises what `read_lines` raises, and InputError for unbalanced
    quotes except in the last line, which may be cut off.
    """
    lines = [(n, line) for n, line in read_lines(path) if not line.startswith(COMMENT)]
    delimiter = _delimiter([line for _, line in lines])
    last = lines[-1][0] if lines else 0
    if not delimiter and all(_QUOTED.fullmatch(line) for _, line in lines):
        delimiter = _SPACE
        lines = [(n, _SPACE.join(line.split())) for n, line in lines]
    rows = [_row(line, delimiter, f"{path} line {n}", n == last) for n, line in lines]
    rows = [row for row in rows if any(row.fields)]  # spreadsheets write empty rows
    titles = _titles(rows)
    return Table(str(path), titles, tuple(rows[1:] if titles else rows))


def complete_rows(table: Table, needed: Sequence[int]) -> tuple[list[Row], dict[str, int]]:
    """Return the rows, without a last one that ends before a needed field, and the count left out.

    Raises InputError for a row that has more fields than the table has columns.
    """
    rows, excluded = list(table.rows), {}
    if len(rows) > 1 and len(rows[-1].fields) <= max(needed):
        rows.pop()
        excluded[LEFT_OUT] = 1
    long = next((row for row in rows if len(row.fields) > table.width), None)
    if long:
        what = f"{len(long.fields)} fields instead of {table.width}"
        do = "quote fields that contain the delimiter, and write numbers with a decimal point"
        raise InputError(what, where=long.where, found=shortened(long), do=do)
    return rows, excluded


def parsed(field: str) -> float | None:
    """Return the number in a field, None if it is not one."""
    try:
        return float(field)
    except ValueError:
        return None


def normalised(titles: Sequence[str]) -> tuple[str, ...]:
    """Return column names in lower case, letters and digits only."""
    return tuple("".join(filter(str.isalnum, title.lower())) for title in titles)


def shortened(row: Row) -> str:
    """Return the start of a row, quoted, for an error message."""
    return repr(" ".join(row.fields)[:60])


def _delimiter(lines: Sequence[str]) -> str:
    """Return the delimiter that splits most lines in three, preferably the first line too.

    Quoted fields may contain the others, and a few lines may be malformed.
    """
    bare = [_CELL.sub("", line) if '"' in line else line for line in lines]
    found = [
        delimiter for delimiter in _DELIMITERS
        if 2 * sum(line.count(delimiter) >= 2 for line in bare) > len(bare)
    ]  # fmt: skip
    heading = [delimiter for delimiter in found if bare[0].count(delimiter) >= 2]
    return next(iter([*heading, *found]), WHITE_SPACE)


def _row(line: str, delimiter: str, where: str, last: bool) -> Row:
    try:
        fields = [field.strip() for field in split_fields(line, delimiter, where)]
    except InputError:
        if not last:
            raise
        fields = [line.strip()]
    while len(fields) > 1 and not fields[-1]:
        fields.pop()
    return Row(where, tuple(fields))


def _titles(rows: Sequence[Row]) -> tuple[str, ...]:
    """Return the fields of the first row if it is a header, else ()."""
    if not rows:
        return ()
    below = rows[1:] or rows
    titles, numeric = rows[0].fields, _numeric(below)
    # pandas and R may leave the index column without a title.
    if len(titles) == _width(below) - 1 and 0 in numeric:
        titles = ("", *titles)
    return titles if _is_header(titles, numeric) else ()


def _is_header(fields: tuple[str, ...], numeric: Sequence[int]) -> bool:
    """Return whether the first row is a header, rather than an item with a malformed score."""
    names = normalised(fields)
    if _knows_words(names) or _heads_index(fields, numeric):
        return True
    if not numeric:
        return all(any(name in role for name in names) for role in ROLES)
    column = next((c for c in numeric if c > 1), len(fields))
    if column >= len(fields) or parsed(fields[column]) is not None:
        return False
    if names[column] in _NO_NUMBER:
        return False
    # A single known name may be a word of a pair, such as "mean".
    return not _DIGIT.search(fields[column]) or names[column] in SCORES


def _heads_index(fields: tuple[str, ...], numeric: Sequence[int]) -> bool:
    """Return whether the first row has a title above an index column, or no title there."""
    if 0 not in numeric or parsed(fields[0]) is not None:
        return False
    others = [fields[column] for column in numeric[1:] if column < len(fields)]
    return not fields[0] or not others or any(parsed(field) is None for field in others)


def _knows_words(names: Sequence[str]) -> bool:
    return any(name in FIRST for name in names) and any(name in SECOND for name in names)


def _width(rows: Sequence[Row]) -> int:
    return Counter(len(row.fields) for row in rows).most_common(1)[0][0] if rows else 0


def _numeric(rows: Sequence[Row]) -> tuple[int, ...]:
    counts = Counter(
        column
        for row in rows
        for column, field in enumerate(row.fields)
        if parsed(field) is not None
    )
    return tuple(sorted(column for column, count in counts.items() if 2 * count > len(rows)))
