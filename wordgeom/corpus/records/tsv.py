"""Tab-separated values: one record a line, one column of which is a document. No quoting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from wordgeom.core.errors import OptionError
from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Block, Source
from wordgeom.corpus.records import tsv_header
from wordgeom.corpus.records.fields import Fields, fail, lines_of, shown, with_text

MOST = 1 << 16  # columns


def by_number(field: str) -> bool:
    """Return whether a column is named by its number, from 1."""
    return field.isascii() and field.isdecimal()


def cells_of(line: bytes) -> list[str]:
    """Return the first cells of a line, for messages and for column names."""
    return [c.decode("utf-8", "replace") for c in line.rstrip(b"\r\n").split(b"\t", MOST)]


@dataclass(frozen=True)
class _Columns:
    """The number of columns, and those (from 0) of text, id and time."""

    width: int
    text: int
    id: int | None
    time: int | None


def read_tsv(
    lines: Iterator[Block], source: Source, fields: Fields, header: str = "no"
) -> Iterator[Block]:
    """Yield the text of each record as a line; blank lines stay, and a header becomes one.

    Fields are column numbers, or names from the first line. header: with numbers, whether the first
    line is a header: yes, no, or auto to decide by its content. Every record must have as many
    columns as the first line. Raises InputError naming the line.
    """
    start = _start(lines)
    sample = [row for block in start for row in lines_of(block.text) if row]
    columns = None
    for block in chain(start, lines):
        rows = lines_of(block.text)
        first = next((k for k, row in enumerate(rows) if row), None)
        if columns is None and first is not None:
            columns = _columns(cells_of(rows[first]), source.name, block.line + first, fields)
            if not by_number(fields.text) or _is_header(sample, columns, source, header):
                rows[first] = b""
        # Blank lines before the first record are passed on unchanged.
        yield with_text(block, _texts(rows, columns, block.line, source)) if columns else block


def _start(lines: Iterator[Block]) -> list[Block]:
    """Return the first blocks, which contain the rows that decide about a header."""
    blocks: list[Block] = []
    rows = 0
    for block in lines:
        blocks.append(block)
        rows += sum(1 for row in lines_of(block.text) if row)
        if rows > tsv_header.SAMPLE:
            break
    return blocks


def _is_header(sample: list[bytes], columns: _Columns, source: Source, header: str) -> bool:
    """Return whether the first row is a header; record in `source` what was decided."""
    if header != "auto":
        return header == "yes"
    first, *rows = [cells_of(row) for row in sample[: tsv_header.SAMPLE + 1]]
    asked = {"text": columns.text, "id": columns.id, "time": columns.time}
    numbers = {role: column for role, column in asked.items() if column is not None}
    found = tsv_header.first_row(first, rows, numbers)
    if found != tsv_header.RECORD:
        source.header = {"found": found, "cells": shown(first)}
    return found == tsv_header.HEADER


def _texts(rows: list[bytes], columns: _Columns, line: int, source: Source) -> bytes:
    """Return the text of each row as a line; add the ids and times of the rows to `source`."""
    listed = source.listed or columns.id is not None or columns.time is not None
    texts: list[bytes] = []
    records: list[Record] = []
    for number, row in enumerate(rows, line):
        if not row:
            texts.append(row)
            continue
        cells = row.split(b"\t", columns.width)
        if len(cells) != columns.width:
            found = row.count(b"\t") + 1
            do = "correct it; quotes do not protect tabs or line ends"
            fail(source.name, number, f"needs {columns.width:,} columns", f"{found:,}", do)
        texts.append(cells[columns.text])
        if listed:
            records.append(_record(cells, columns, source.name, number))
    source.documents.add(records)
    return b"\n".join(texts)


def _record(cells: list[bytes], columns: _Columns, name: str, number: int) -> Record:
    found = ["" if k is None else cells[k].decode("utf-8") for k in (columns.id, columns.time)]
    for column, cell in zip((columns.id, columns.time), found, strict=True):
        if column is not None and not cell:
            what = "has no id" if column == columns.id else "has no time"
            fail(name, number, what, f"nothing in column {column + 1}", "correct the record")
    return Record(found[0], found[1], number)


def _columns(cells: list[str], name: str, number: int, fields: Fields) -> _Columns:
    if len(cells) > MOST:
        fail(name, number, "has too many columns", f"more than {MOST:,}", "check the file")

    def find(field: str) -> int:
        if by_number(field):
            if not 1 <= int(field) <= len(cells):
                found = f"{len(cells):,} columns: {shown(cells)}"
                do = "check --text-field, --id-field, --time-field"
                fail(name, number, f"has no column {field}", found, do)
            return int(field) - 1
        if cells.count(field) != 1:
            many = "no column" if field not in cells else "more than one column"
            do = "name a column of the first line, or give its number"
            fail(name, number, f"has {many} {field!r}", shown(cells), do)
        return cells.index(field)

    return _Columns(
        len(cells),
        find(fields.text),
        None if fields.id is None else find(fields.id),
        None if fields.time is None else find(fields.time),
    )


def unnamed(name: str, line: bytes) -> OptionError:
    """Return the error for a TSV file without --text-field, listing the columns."""
    cells = [f"{k} {cell!r}" for k, cell in enumerate(cells_of(line), 1)]
    do = "give the number of the text column, or its name in the first line"
    return OptionError("--text-field is needed for .tsv", where=name, found=shown(cells), do=do)
