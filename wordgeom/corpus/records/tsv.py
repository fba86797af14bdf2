"""Tab-separated values: one record a line, one column of which is a document. No quoting."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural
from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Block, Source
from wordgeom.corpus.records.columns import MOST, Columns, find_columns, has_header, record_of
from wordgeom.corpus.records.fields import Fields, fail, lines_of, with_text
from wordgeom.corpus.records.tsv_header import SAMPLE


def cells_of(line: bytes) -> list[str]:
    """Return the first cells of a line, for messages and for column names."""
    return [c.decode("utf-8", "replace") for c in line.rstrip(b"\r\n").split(b"\t", MOST)]


def read_tsv(
    lines: Iterator[Block], source: Source, fields: Fields, header: str = "no"
) -> Iterator[Block]:
    """Yield the text of each record as a line; blank lines stay, and a header becomes one.

    Fields are column numbers, or names from the first line. header: with numbers, whether the first
    line is a header: yes, no, or auto to decide by its content. Every record must have as many
    columns as the first line. Raises InputError naming the line.
    """
    start = _start(lines)
    sample = [row for block in start for row in lines_of(block.text) if row][: SAMPLE + 1]
    columns = None
    for block in chain(start, lines):
        rows = lines_of(block.text)
        first = next((k for k, row in enumerate(rows) if row), None)
        if columns is None and first is not None:
            cells = [cells_of(row) for row in sample]
            columns = find_columns(cells[0], fields, source.name, block.line + first)
            if has_header(cells, columns, fields, source, header):
                rows[first] = b""
        # Blank lines before the first record are passed on unchanged.
        if columns:
            block = with_text(block, _texts(rows, columns, fields, block.line, source))
        yield block


def _start(lines: Iterator[Block]) -> list[Block]:
    """Return the first blocks, which contain the rows that decide about a header."""
    blocks: list[Block] = []
    rows = 0
    for block in lines:
        blocks.append(block)
        rows += sum(1 for row in lines_of(block.text) if row)
        if rows > SAMPLE:
            break
    return blocks


def _texts(rows: list[bytes], columns: Columns, fields: Fields, line: int, source: Source) -> bytes:
    """Return the text of each row as a line; add the ids and times of the rows to `source`."""
    listed = source.listed or columns.labelled
    texts: list[bytes] = []
    records: list[Record] = []
    for number, row in enumerate(rows, line):
        text = b""
        if row:
            try:
                cells = _cells(row, columns.width, source.name, number)
                if listed:
                    records.append(record_of(cells, columns, source.name, number))
                text = cells[columns.text]
            except InputError as error:
                fields.reject(error, source)
        texts.append(text)
    source.documents.add(records)
    return b"\n".join(texts)


def _cells(row: bytes, width: int, name: str, number: int) -> list[bytes]:
    cells = row.split(b"\t", width)
    if len(cells) != width:
        found = row.count(b"\t") + 1
        do = "correct it, pass --input-format csv if cells are quoted"
        fail(name, number, f"needs {plural(width, 'column')}", f"{found:,}", do)
    return cells
