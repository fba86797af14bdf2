"""Read .csv and .tsv tables, plain or gzip-compressed: names in the first column, then numbers.

The first line may be a header. Blank cells and the usual markers (NA, NaN, null, -, …) are
missing values; true and false are 1 and 0. Any other cell that is not a number is an error.
"""

from __future__ import annotations

import csv
import gzip
import io
import math
import re
import zlib
from array import array
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from wordgeom.core.errors import FormatError, InputError
from wordgeom.core.formatting import plural
from wordgeom.imputation.tables.cells import number_of
from wordgeom.imputation.tables.files import check_size, opened
from wordgeom.imputation.tables.headings import PEEKED, Heading, heading_of
from wordgeom.imputation.tables.table import Table
from wordgeom.storage.foreign import recognise

GZIP_MAGIC = b"\x1f\x8b"
_BOM = b"\xef\xbb\xbf"
_PEEKED_CELLS = 1 << 20
_MAX_LINE = 1 << 25  # bytes; a small gzip file may decompress to a line of any length
_COMMON_MISSING = frozenset(["", "NA", "N/A", "NaN", "nan", "null", "NULL", "None"])
_LAYOUT = "put names in the first column, numbers in all others"
_DECIMAL_POINT = "use a decimal point, and no thousands separator"
_NO_INDEX = "the first column is a row index: save the table with to_csv(FILE, index=False)"
_LOCAL_NUMBER = re.compile(r"[+-]?\d[\d.\u00a0 ]*,\d+(e[+-]?\d+)?|[+-]?\d+;.*", re.IGNORECASE)
Row = tuple[int, list[str]]


def read_delimited(path: Path, memory: int) -> Table:
    """Read a table (n × d), separated by tabs (.tsv), else commas, else semicolons, else tabs.

    `headings.heading_of` decides whether the first line is a header. The header may omit the column
    of names, as R does. Raises InputError naming the line; FormatError for a broken gzip file or
    quotes.
    """
    with opened(path) as raw:
        rows = _rows(raw, path)
        first = next(rows, None)
        if first is None:
            raise InputError("contains no lines", where=path, do=_LAYOUT)
        below = _ahead(rows)
        heading = heading_of(first[1], [row for _, row in below])
        headed = heading is Heading.HEADER
        if headed and not below:
            raise InputError("contains a header but no entities", where=path, do=_LAYOUT)
        width = len(below[0][1] if headed else first[1])
        columns = _headings(first, width, path) if headed else [str(j + 1) for j in range(1, width)]
        indexed = headed and not first[1][0].strip()
        entities = chain(below if headed else [first, *below], rows)
        shown = first[1].copy()  # reading the entity removes its name
        names, values = _read(entities, columns, memory, path, indexed)
    matrix = np.frombuffer(values).reshape(len(names), width - 1)
    return Table(matrix, names, columns, notes=_notes(shown, heading, names, path))


def _ahead(rows: Iterator[Row]) -> list[Row]:
    """Take the next rows, as many as a header is compared with; fewer of very wide tables."""
    taken: list[Row] = []
    cells = 0
    while len(taken) < PEEKED and cells < _PEEKED_CELLS and (row := next(rows, None)) is not None:
        taken.append(row)
        cells += len(row[1])
    return taken


def _rows(raw: BinaryIO, path: Path) -> Iterator[Row]:
    """Yield the non-blank rows, each with the number of its first line."""
    lines, number = _lines(raw, path), 1
    try:
        head = next(lines, "")
        reader = csv.reader(chain([head], lines), delimiter=_separator(head, path), strict=True)
        for row in reader:
            if row:
                yield number, row
            number = reader.line_num + 1
    except csv.Error as error:
        do = "close the quotes, or double quotes inside a cell"
        where = f"{path} line {number}"
        raise FormatError(f"malformed CSV: {error}", where=where, do=do) from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        do = "check it with gzip -t, and download it again"
        raise FormatError(f"broken gzip file: {error}", where=path, do=do) from None


def _lines(raw: BinaryIO, path: Path) -> Iterator[str]:
    packed = raw.read(2) == GZIP_MAGIC
    raw.seek(0)
    source = io.BufferedReader(cast(io.RawIOBase, gzip.GzipFile(fileobj=raw))) if packed else raw
    number = 0
    while line := source.readline(_MAX_LINE):
        number += 1
        if len(line) == _MAX_LINE and not line.endswith(b"\n"):
            what = f"line of more than {_MAX_LINE:,} bytes"
            raise InputError(what, where=f"{path} line {number}")
        if number == 1 and (foreign := recognise(line, path.name)):
            raise InputError(foreign.line, where=path, found=foreign.found, do=foreign.do)
        yield _decoded(line.removeprefix(_BOM) if number == 1 else line, path, number)


def _decoded(line: bytes, path: Path, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        where, found = f"{path} line {number}", f"byte 0x{line[error.start]:02x}"
        do = "convert the file to UTF-8"
        raise InputError("not UTF-8", where=where, found=found, do=do) from None


def _separator(head: str, path: Path) -> str:
    if ".tsv" in [suffix.lower() for suffix in path.suffixes[-2:]]:
        return "\t"
    return next((separator for separator in ",;\t" if separator in head), ",")


def _headings(first: Row, width: int, path: Path) -> list[str]:
    """Return the name of each column of numbers in messages."""
    number, heads = first
    if len(heads) not in (width, width - 1):
        what = f"the header has {len(heads)} cells, the next row {width}"
        do = "give each column one cell, the names too; quote cells that contain the separator"
        raise InputError(what, where=f"{path} line {number}", do=do)
    heads = heads[len(heads) - width + 1 :]
    return [repr(head[:40]) if head.strip() else str(j + 2) for j, head in enumerate(heads)]


def _read(
    rows: Iterator[Row], columns: Sequence[str], memory: int, path: Path, indexed: bool
) -> tuple[list[str], array[float]]:
    """Return the names and all numbers, row by row; check both against the memory limit.

    indexed: the header cell of the names is empty, as when pandas writes a row index.
    """
    names, values, width, text = [], array("d"), len(columns), 0
    for number, row in rows:
        if len(row) != width + 1:
            what = f"needs {plural(width + 1, 'cell')} like the first row"
            do = "correct the line, or remove lines above the header, such as a title"
            raise InputError(what, where=f"{path} line {number}", found=len(row), do=do)
        names.append(row.pop(0))
        text += len(names[-1])
        check_size(len(names) + text // max(1, 8 * width), width, memory, path)
        row_number = indexed and names[-1].isdigit()
        _append(values, row, columns, f"{path} line {number}", row_number)
    return names, values


def _append(
    values: array[float], cells: Sequence[str], columns: Sequence[str], where: str, row_number: bool
) -> None:
    """Append a row of numbers: all at once if they are plain, else cell by cell."""
    start = len(values)
    if "_" not in "".join(cells):
        try:
            values.extend(map(float, cells))
            return
        except ValueError:
            del values[start:]
    for place, (column, cell) in enumerate(zip(columns, cells, strict=True)):
        number = math.nan if cell in _COMMON_MISSING else number_of(cell)
        if number is None:
            what, do = f"column {column} must be a number", _advice(cell, row_number and not place)
            raise InputError(what, where=where, found=repr(cell[:40]), do=do)
        values.append(number)


def _advice(cell: str, after_count: bool) -> str:
    """Return how to fix a cell that is not a number; after_count: it may be the row's name."""
    if after_count:
        return _NO_INDEX
    return _DECIMAL_POINT if _LOCAL_NUMBER.fullmatch(cell.strip()) else _LAYOUT


def _notes(
    first: Sequence[str], heading: Heading, names: Sequence[str], path: Path
) -> tuple[str, ...]:
    """Return notes on ambiguous tables: a first line of numbers, or only numbers as names."""
    notes, shown = [], ", ".join(repr(cell[:20]) for cell in first[:4])
    shown += ", …" if len(first) > 4 else ""
    numbers = any(cell.strip() and number_of(cell) is not None for cell in first[1:])
    if heading is Heading.HEADER and numbers:
        notes.append(f"{path}: the first line was read as a header: {shown}")
    if heading is Heading.UNSURE:
        do = "if it is a header, change its first cell to 'name'"
        notes.append(f"{path}: the first line was read as an entity: {shown}; {do}")
    if all(number_of(name) is not None for name in names):
        shown = repr(names[0][:20])
        notes.append(f"{path}: the first column, all numbers, was read as names: {shown}, …")
    return tuple(notes)
