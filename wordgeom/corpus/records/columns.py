"""The columns of a table: those of text, id and time, and whether the first row is a header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from wordgeom.core.errors import OptionError
from wordgeom.core.formatting import plural
from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.records import tsv_header
from wordgeom.corpus.records.fields import Fields, fail, shown

MOST = 1 << 16  # columns


@dataclass(frozen=True)
class Columns:
    """The number of columns, and those (from 0) of text, id and time."""

    width: int
    text: int
    id: int | None
    time: int | None

    @property
    def labelled(self) -> bool:
        """Whether there is a column of ids or times."""
        return self.id is not None or self.time is not None


def by_number(field: str) -> bool:
    """Return whether a column is named by its number, from 1."""
    return field.isascii() and field.isdecimal()


def find_columns(cells: Sequence[str], fields: Fields, name: str, number: int) -> Columns:
    """Return the requested columns; cells: of the first row. Raises InputError."""
    cells = list(cells)
    if len(cells) > MOST:
        fail(name, number, "has too many columns", f"more than {MOST:,}", "check the file")

    def find(field: str) -> int:
        if by_number(field):
            if not 1 <= int(field) <= len(cells):
                found = f"{plural(len(cells), 'column')}: {shown(cells)}"
                do = "check --text-field, --id-field, --time-field"
                fail(name, number, f"has no column {field}", found, do)
            return int(field) - 1
        if cells.count(field) != 1:
            many = "no column" if field not in cells else "more than one column"
            do = "name a column of the first line, or give its number"
            fail(name, number, f"has {many} {field!r}", shown(cells), do)
        return cells.index(field)

    return Columns(
        len(cells),
        find(fields.text),
        None if fields.id is None else find(fields.id),
        None if fields.time is None else find(fields.time),
    )


def has_header(
    rows: Sequence[Sequence[str]], columns: Columns, fields: Fields, source: Source, header: str
) -> bool:
    """Return whether the first of the rows is a header; record in `source` what was decided.

    header: with columns by number, yes, no, or auto to decide by the rows, up to SAMPLE + 1.
    """
    if not by_number(fields.text):
        return True
    if header != "auto":
        return header == "yes"
    first, *below = rows
    asked = {"text": columns.text, "id": columns.id, "time": columns.time}
    numbers = {role: column for role, column in asked.items() if column is not None}
    found = tsv_header.first_row(first, below, numbers)
    if found != tsv_header.RECORD:
        source.header = {"found": found, "cells": shown(list(first))}
    return found == tsv_header.HEADER


def record_of(cells: Sequence[str | bytes], columns: Columns, name: str, number: int) -> Record:
    """Return the id and the time of a row, bytes being UTF-8; raises InputError without an id."""
    key, time = ("" if k is None else _text(cells[k]) for k in (columns.id, columns.time))
    if columns.id is not None and not key:
        fail(name, number, "has no id", f"nothing in column {columns.id + 1}", "correct the record")
    return Record(key, time, number)


def unnamed(name: str, format_name: str, cells: Sequence[str]) -> OptionError:
    """Return the error for a table without --text-field, listing its columns."""
    found = shown([f"{k} {cell!r}" for k, cell in enumerate(cells, 1)])
    do = "give the number of the text column, or its name in the first line"
    return OptionError(f"--text-field is needed for .{format_name}", where=name, found=found, do=do)


def _text(cell: str | bytes) -> str:
    return cell if isinstance(cell, str) else cell.decode("utf-8")
