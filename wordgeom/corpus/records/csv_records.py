"""CSV (RFC 4180): one record a row, one column of which is a document.

Quoted cells may contain delimiters, line ends and doubled quotes. Excel separates cells by `;`
where the comma is the decimal mark, so the delimiter is recognised by the first rows, or by a first
line `sep=;`, which Excel writes and does not count as a row.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from itertools import chain, islice

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural
from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Block, Source
from wordgeom.corpus.records.columns import Columns, find_columns, has_header, record_of
from wordgeom.corpus.records.fields import Fields, fail, with_text
from wordgeom.corpus.records.tsv_header import SAMPLE

DELIMITERS = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|"}
_NAMED = re.compile(rb"sep=(.)[\r\n]", re.IGNORECASE)
LONGEST = 1 << 26  # characters of a cell
COPIES = 3  # of a record's memory in CSV, whose reader holds 4 bytes a character
_ENDLESS = ("unexpected end of data", "field larger than field limit")
_DO = "double the quotes inside a quoted cell"
_Row = tuple[Block, int, list[str] | InputError]  # its last block, its first line, its cells


def read_csv(
    lines: Iterator[Block], source: Source, fields: Fields, header: str, delimiter: str
) -> Iterator[Block]:
    """Yield the text of each record as a line, without a header; line ends in it become spaces.

    Fields and header are as in `read_tsv`; delimiter: a key of DELIMITERS, or auto. A record
    belongs to the block in which it ends. Raises InputError naming the line in which it begins.
    """
    block = next(lines, None)
    if block is None:
        return
    rows = _rows(chain([block], lines), delimiter_of(block.text, delimiter), source)
    if _NAMED.match(block.text):
        next(rows)
    start = [row for row in islice(rows, SAMPLE + 1) if row[2]]
    records = _Records(source, fields, _columns(start, source, fields, header))
    for at, number, cells in chain(start, rows):
        if at is not block:
            yield records.flush(block)
            block = at
        if cells:
            records.add(number, cells)
    yield records.flush(block)


class _Records:
    """The records of the current block; `columns` is None for a file without rows."""

    def __init__(self, source: Source, fields: Fields, columns: Columns | None) -> None:
        self._source, self._fields, self._columns = source, fields, columns
        self._listed = source.listed or fields.has_labels
        self._texts: list[str] = []
        self._records: list[Record] = []

    def add(self, number: int, cells: list[str] | InputError) -> None:
        """Add a row, unless it is malformed. Raises InputError."""
        columns, name = self._columns, self._source.name
        assert columns is not None
        try:
            if isinstance(cells, InputError):
                raise cells
            if len(cells) != columns.width:
                found, do = f"{len(cells):,}", "quote cells that contain the delimiter"
                fail(name, number, f"needs {plural(columns.width, 'column')}", found, do)
            if self._listed:
                self._records.append(record_of(cells, columns, name, number))
            self._texts.append(cells[columns.text].replace("\n", " "))
        except InputError as error:
            self._fields.reject(error, self._source)

    def flush(self, block: Block) -> Block:
        """Return the block with the texts of its records."""
        self._texts.append("")
        text = "\n".join(self._texts).encode("utf-8")
        self._source.documents.add(self._records)
        self._texts, self._records = [], []
        return with_text(block, text)


def _columns(start: list[_Row], source: Source, fields: Fields, header: str) -> Columns | None:
    """Return the columns, and drop a header from the first rows."""
    if not start:
        return None
    _, number, first = start[0]
    if isinstance(first, InputError):
        raise first
    columns = find_columns(first, fields, source.name, number)
    sample = [cells for _, _, cells in start if isinstance(cells, list)]
    if has_header(sample, columns, fields, source, header):
        del start[0]
    return columns


class _Lines:
    """The lines of blocks; `block` is the one that was read last."""

    def __init__(self, blocks: Iterator[Block]) -> None:
        self._blocks = blocks
        self.block = Block(b"", "", 0, ascii=True, last=False)

    def __iter__(self) -> Iterator[str]:
        ends = ""  # rows end with \n, or with \r as on old Macintoshes
        for block in self._blocks:
            self.block = block
            text = block.text.decode("utf-8")
            ends = ends or ("\n" if "\n" in text else "\r")
            yield from _lines_of(text, ends)


def _lines_of(text: str, ends: str) -> Iterable[str]:
    """Return the lines of a text; a carriage return that ends no row becomes a space."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n" if ends == "\r" else " ")
    return io.StringIO(text, newline="\n")


def _rows(blocks: Iterator[Block], sign: str, source: Source) -> Iterator[_Row]:
    """Yield the rows, [] for a blank line, and [] in the last block at the end."""
    csv.field_size_limit(min(LONGEST, source.longest // COPIES))
    lines = _Lines(blocks)
    reader = csv.reader(lines, delimiter=sign, strict=True)
    while True:
        number = reader.line_num + 1
        cells: list[str] | InputError
        try:
            cells = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            cells = _explained(str(error), source, number, reader.line_num)
        yield lines.block, number, cells
    yield lines.block, number, []


def _explained(what: str, source: Source, number: int, end: int) -> InputError:
    """Return the error of a malformed row; raises it where the end of the row is unknown."""
    where = f"{source.name} line {number}"
    if what.startswith(_ENDLESS):
        do = "close it, or double the quotes inside it"
        most = source.longest // COPIES
        if what.startswith(_ENDLESS[1]) and most < LONGEST:
            large = f"a quoted cell has more than {most:,} characters"
            raise InputError(large, where=where, do=f"{do}, or raise --memory")
        raise InputError("a quoted cell is never closed", where=where, do=do)
    return InputError(f"malformed CSV: {what} in line {end:,}", where=where, do=_DO)


def delimiter_of(text: bytes, asked: str = "auto") -> str:
    """Return the delimiter of the first rows, a comma if there is none.

    It separates each of them into as many cells as the first row has, if any delimiter does, and of
    several such it is the one that gives the most cells.
    """
    if asked != "auto":
        return DELIMITERS[asked]
    if named := _NAMED.match(text):
        return named[1].decode("latin-1")
    widths = {sign: [len(row) for row in _sample(text, sign)] for sign in DELIMITERS.values()}
    some = {sign: counts for sign, counts in widths.items() if counts and counts[0] > 1}
    even = {sign: counts for sign, counts in some.items() if len(set(counts)) == 1}
    return max(even or some or [","], key=lambda sign: widths[sign][:1])


def first_row(text: bytes, asked: str) -> list[str]:
    """Return the cells of the first row of a text."""
    rows = _sample(text, delimiter_of(text, asked))
    return next(islice(rows, int(_NAMED.match(text) is not None), None), [])


def rows_of(text: bytes, sign: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the line and the cells of each row that is not blank; raises csv.Error."""
    lines = _lines_of(text.decode("utf-8", "replace"), "\n" if b"\n" in text else "\r")
    reader = csv.reader(lines, delimiter=sign, strict=True)
    number = 1
    for row in reader:
        if row:
            yield number, row
        number = reader.line_num + 1


def _sample(text: bytes, sign: str) -> list[list[str]]:
    """Return the first rows, up to one that is malformed or incomplete."""
    rows: list[list[str]] = []
    try:
        for _, row in islice(rows_of(text, sign), SAMPLE + 1):
            rows.append(row)
    except csv.Error:
        pass
    return rows
