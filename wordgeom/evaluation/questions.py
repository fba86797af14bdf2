"""Find the four words of an analogy in a table: CSV as published, or four words on a line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from wordgeom.core.errors import InputError
from wordgeom.evaluation.lines import set_name
from wordgeom.evaluation.tables import OTHER_KINDS, ROLES, Row, Table, complete_rows, shortened

_SECTIONS = ("type", "category", "section", "relation", "subcategory", "class")
_TAGS = re.compile(r"[A-Z]+_[A-Z]+")  # MSR's relations, such as JJ_JJR
_DO = "write four words, or a colon and a section name"
_DO_HEADER = "add a header such as section, a, b, c, d"


@dataclass(frozen=True)
class QuestionList:
    """Questions, the section of each, and the number of lines left out, by reason."""

    questions: tuple[tuple[str, ...], ...]
    sections: tuple[str, ...]
    excluded: Mapping[str, int] = field(default_factory=dict)


def asks_questions(table: Table) -> bool:
    """Return whether a table has four columns of words and no score after the second."""
    named = [table.find(role) is not None for role in ROLES]
    if all(named) or all(named[:2]):
        return all(named)
    words = _words(table)
    return len(words) >= 4 and not any(column > words[1] for column in table.numeric)


def question_list(table: Table) -> QuestionList:
    """Return the questions of a table, in the sections that a column of it names.

    An incomplete last line is left out. Raises InputError if the columns of the four words are
    unclear, for a row without four words, naming it, and for a table without rows.
    """
    if not table.rows:
        do = "write four words on each line"
        raise InputError("no analogy questions in the file", where=table.path, do=do)
    columns, section = _columns(table)
    rows, excluded = complete_rows(table, columns)
    questions = tuple(_question(row, columns) for row in rows)
    sections = _sections(rows, section, set_name(table.path))
    return QuestionList(questions, tuple(sections), excluded)


def has_tags(table: Table, column: int) -> bool:
    """Return whether a column has MSR's relations in all complete rows."""
    fields = [row.fields[column] for row in table.rows if column < len(row.fields)]
    return bool(fields) and all(_TAGS.fullmatch(each) for each in fields)


def _columns(table: Table) -> tuple[tuple[int, ...], int | None]:
    """Return the columns of the four words and of the section, None if there is none."""
    words = _words(table)
    section = next((c for c in words if table.name(c) in _SECTIONS), None)
    named = [table.find(role) for role in ROLES]
    if None not in named:
        chosen = tuple(column for column in named if column is not None)
        if section is None:  # the section may be a number
            section = table.find(_SECTIONS)
        return chosen, section
    if section is None:
        section = next((c for c in words[3:] if has_tags(table, c)), None)
    chosen = tuple(c for c in words if c != section and not has_tags(table, c))
    if len(chosen) != 4:
        row = table.rows[0]
        do = f"{_DO_HEADER}{OTHER_KINDS}" if len(chosen) > 4 else _DO
        raise InputError("not four words", where=row.where, found=shortened(row), do=do)
    return chosen, section


def _words(table: Table) -> tuple[int, ...]:
    """Return the columns without numbers, ascending."""
    return tuple(c for c in range(table.first, table.width) if c not in table.numeric)


def _question(row: Row, columns: Sequence[int]) -> tuple[str, ...]:
    words = tuple(row.fields[column] for column in columns if column < len(row.fields))
    if len(words) != 4 or not all(words):
        raise InputError("not four words", where=row.where, found=shortened(row), do=_DO)
    return words


def _sections(rows: Sequence[Row], column: int | None, name: str) -> Iterator[str]:
    for row in rows:
        named = row.fields[column] if column is not None and column < len(row.fields) else ""
        yield named or name
