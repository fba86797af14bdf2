"""The metadata of files: a table (.tsv or .csv) with a file, and its id or time, in each row.

A row belongs to the file of that name. Directories are compared where several files, or several
rows, have the same name.
"""

from __future__ import annotations

import csv
import os
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import listed, plural, several
from wordgeom.corpus.inputs.readers import Source, read_lines
from wordgeom.corpus.records.columns import find_columns
from wordgeom.corpus.records.csv_records import delimiter_of, rows_of
from wordgeom.corpus.records.fields import SHOWN, Fields, fail, lines_of, shown

_FILES = ("file", "filename", "path")  # names of the column of files


class Row(NamedTuple):
    """A row: its line, the parts of its path, and its id and time ("" if not requested)."""

    line: int
    parts: tuple[str, ...]
    id: str
    time: str


def read_metadata(path: str, id_field: str | None, time_field: str | None) -> list[Row]:
    """Return the rows of a table; raises InputError for a malformed or duplicate one."""
    cells = _cells(path)
    number, head = next(cells, (1, []))
    named = next((cell for cell in head if cell.strip().casefold() in _FILES), None)
    if named is None:
        do = f"name the column {listed(_FILES, 'or')}"
        raise InputError("has no column of file names", where=path, found=shown(head), do=do)
    columns = find_columns(head, Fields(named, id_field, time_field), path, number)
    rows: list[Row] = []
    lines: dict[tuple[str, ...], int] = {}
    for number, row in cells:
        if len(row) != columns.width:
            do = "correct the row"
            fail(path, number, f"needs {plural(columns.width, 'column')}", f"{len(row):,}", do)
        key, time = ("" if k is None else row[k].strip() for k in (columns.id, columns.time))
        parts = _parts(row[columns.text].strip())
        if not parts:
            fail(path, number, "names no file", do="correct the row")
        if parts in lines:
            what = f"a second row for {row[columns.text][:SHOWN]}, after line {lines[parts]:,}"
            fail(path, number, what, do="remove one of the two")
        lines[parts] = number
        rows.append(Row(number, parts, key, time))
    return rows


def match_rows(rows: Sequence[Row], names: Sequence[str], path: str) -> list[Row | None]:
    """Return the row of each file, None where there is none; path: of the table.

    Raises InputError for a file or a row that is ambiguous, and if no file has a row.
    """
    by_name: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_name[row.parts[-1]].append(row)
    files = [_parts(os.path.abspath(name)) for name in names]
    alike = Counter(parts[-1] for parts in files)
    found: list[Row | None] = []
    for name, parts in zip(names, files, strict=True):
        same = by_name[parts[-1]]
        if len(same) > 1 or alike[parts[-1]] > 1:
            same = [row for row in same if parts[-len(row.parts) :] == row.parts]
        if len(same) > 1:
            where = f"{path} line {same[1].line}"
            what = f"a second row for {name}, after line {same[0].line:,}"
            raise InputError(what, where=where, do="remove one of the two")
        found.append(same[0] if same else None)
    used = Counter(row for row in found if row is not None)
    twice = next((row for row, times in used.items() if times > 1), None)
    if twice is not None:
        what = f"{'/'.join(twice.parts)!r} is the name of {used[twice]:,} files"
        fail(path, twice.line, what, do="write their directories into the table")
    if not used:
        seen = f"{'/'.join(rows[0].parts)!r} in the table" if rows else "no rows"
        do = f"the column of files must have names such as {os.path.basename(names[0])!r}"
        raise InputError("names none of the files", where=path, found=seen, do=do)
    return found


def match_notes(
    rows: Sequence[Row], found: Sequence[Row | None], names: Sequence[str], path: str
) -> list[str]:
    """Return a note on files without a row, and one on rows without a file."""
    notes = []
    without = [name for name, row in zip(names, found, strict=True) if row is None]
    if without:
        has = "has" if len(without) == 1 else "have"
        notes.append(
            f"{path}: {plural(len(without), 'file')} {has} no row; the first: {without[0]}"
        )
    used = set(found)
    unused = [row for row in rows if row not in used]
    if unused:
        name = several(len(unused), "row names", "rows name")
        first = f"{'/'.join(unused[0].parts)!r} in line {unused[0].line:,}"
        notes.append(f"{path}: {name} no file that is read; the first: {first}")
    return notes


def _parts(path: str) -> tuple[str, ...]:
    """Return the parts of a path in NFC, since file systems differ in the form of names."""
    normal = unicodedata.normalize("NFC", os.path.normpath(path)) if path else ""
    return tuple(part for part in normal.split("/") if part not in ("", ".."))


def _cells(path: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the non-blank rows of a table, with their line numbers."""
    if not path.lower().endswith((".tsv", ".csv")):
        raise InputError("--metadata needs a .tsv or .csv file", found=path)
    text = b"".join(block.text for block in read_lines(Source(path), "error"))
    if path.lower().endswith(".tsv"):
        for number, line in enumerate(lines_of(text), 1):
            if line:
                yield number, line.decode("utf-8").split("\t")
        return
    try:
        yield from rows_of(text, delimiter_of(text))
    except csv.Error as error:
        do = "close the quotes, or double quotes inside a cell"
        raise InputError(f"malformed CSV: {error}", where=path, do=do) from None
