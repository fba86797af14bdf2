"""Parquet: one record a row, one column of which is a document.

Only the requested columns are read, a few pages at a time, so that memory does not depend on the
size of a row group. pyarrow is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from wordgeom.core.errors import FormatError, InputError, UnavailableError
from wordgeom.core.formatting import first_sentence, install
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Block, Source, open_input, valid_utf8
from wordgeom.corpus.inputs.unsupported import PARQUET
from wordgeom.corpus.records.fields import Fields, fail, shown

_FEWEST_ROWS, _MOST_ROWS = 64, 1 << 12  # of a batch
_SHORT = 1 << 24  # bytes that a text may have, for each of the fewest rows of a batch
_BUFFER = 1 << 20  # bytes of a column that are read at once
_COPIES = 2  # of a record's memory in Parquet, whose page, column and text are in memory at once


@dataclass(frozen=True)
class _Column:
    """A column of the table, or a field of a struct in it; kind: its Arrow type."""

    name: str
    inner: tuple[str, ...]
    kind: Any

    def of(self, batch: Any) -> Any:
        """Return the values of a batch; a field of a null struct is null."""
        from pyarrow import compute

        whole = batch.column(batch.schema.get_field_index(self.name))
        return compute.struct_field(whole, list(self.inner)) if self.inner else whole


def read_parquet(source: Source, fields: Fields, bad_bytes: str) -> Iterator[Block]:
    """Yield the text of each record as a line; line ends in it become spaces.

    A text is a string, bytes, or a list of strings, which are joined by spaces. Ids and times may
    also be numbers, dates and timestamps. Lines are row numbers, from 1. Raises UnavailableError
    without pyarrow; FormatError; InputError naming the row.
    """
    pyarrow, parquet = _pyarrow()
    _read_through(source)
    with open_input(source.name) as raw:
        try:
            with parquet.ParquetFile(raw, buffer_size=_BUFFER, pre_buffer=False) as file:
                yield from _blocks(file, source, fields, bad_bytes)
        except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
            what = "broken Parquet file: " + first_sentence(error)
            raise FormatError(what, where=source.name, do="download or write it again") from None
    yield Block(b"", source.name, 0, ascii=True, last=True)


def _read_through(source: Source) -> None:
    """Set size and digest of the file. Raises FormatError where it is not Parquet."""
    if readers.is_stream(source.name):
        raise InputError("Parquet cannot be read from a pipe", where=source.name, do="name a file")
    start = b""
    for chunk, _ in readers.read_chunks(source):
        start = start or chunk[: len(PARQUET)]
    if start != PARQUET or readers.is_compressed(source.name):
        do = "decompress it" if start == PARQUET else "check the file, or pass --input-format"
        raise FormatError("not a Parquet file", where=source.name, do=do)


def _blocks(file: Any, source: Source, fields: Fields, bad_bytes: str) -> Iterator[Block]:
    text = _column(file.schema_arrow, fields.text, source.name)
    asked = (fields.id, fields.time)
    key, time = (f and _column(file.schema_arrow, f, source.name) for f in asked)
    _check_kinds(text, [c for c in (key, time) if c], source.name)
    names = sorted({f for f in (fields.text, *asked) if f})
    rows = _rows_of_block(file.metadata, source.longest)
    number, offset = 1, 0
    for batch in file.iter_batches(batch_size=rows, columns=names, use_threads=False):
        labels = [_labels(c.of(batch)) if c else [""] * len(batch) for c in (key, time)]
        values = zip(_texts(text.of(batch)), *labels, strict=True)
        made = _lines(values, number, source, fields, bad_bytes)
        yield Block(made, source.name, offset, made.isascii(), last=False)
        number, offset = number + len(batch), offset + len(made)


def _rows_of_block(metadata: Any, longest: int) -> int:
    """Return how many rows have about a block of data; longest: bytes that a text may have.

    Sizes of columns would be closer, but pyarrow aborts the process where those are damaged.
    """
    size = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    rows: int = readers.BLOCK * metadata.num_rows // max(1, size)
    fewest = min(_FEWEST_ROWS, readers.BLOCK, max(1, longest // _SHORT))
    return max(fewest, min(_MOST_ROWS, rows))


def _lines(
    rows: Iterator[tuple[bytes | None, str, str]],
    number: int,
    source: Source,
    fields: Fields,
    bad_bytes: str,
) -> bytes:
    """Return the text of each row as a line; add ids and times to `source`."""
    texts: list[bytes] = []
    records: list[Record] = []
    most = source.longest // _COPIES
    for row, (value, key, time) in enumerate(rows, number):
        if value is not None and len(value) > most:
            what = f"has a text of {len(value):,} bytes, more than {most:,}"
            fail(source.name, row, what, do="split it into several records, or raise --memory")
        try:
            text = _text(value, source, row, fields.text, bad_bytes)
            if fields.id is not None and not key:
                fail(source.name, row, f"has no {fields.id!r}, required by --id-field")
        except InputError as error:
            fields.reject(error, source)
            continue
        texts.append(text.replace(b"\n", b" ") + b"\n")
        records.append(Record(key, time, row))
    if source.listed or fields.has_labels:
        source.documents.add(records)
    return b"".join(texts)


def _text(value: bytes | None, source: Source, row: int, field: str, bad_bytes: str) -> bytes:
    if value is None:
        fail(source.name, row, f"the field {field!r} is not text", "null", "correct the record")
    try:
        value.decode("utf-8")
    except UnicodeDecodeError as error:
        if bad_bytes == "error":
            do = "pass --bad-bytes replace or --bad-bytes skip"
            fail(source.name, row, f"not UTF-8 at byte {error.start:,} of the text", do=do)
        return valid_utf8(value, source, 0, bad_bytes)[0]
    return value


def _column(schema: Any, path: str, name: str) -> _Column:
    """Return a column by its name, or by a path such as a.b for the field b of the struct a."""
    from pyarrow import types

    names = list(schema.names)
    top, *inner = [path] if path in names else path.split(".")
    if names.count(top) != 1:
        many = "more than one column" if top in names else "no column"
        do = "name a column with --text-field, --id-field or --time-field"
        raise InputError(f"has {many} {path!r}", where=name, found=shown(names), do=do)
    kind = schema.field(top).type
    for part in inner:
        known = (
            [kind.field(k).name for k in range(kind.num_fields)] if types.is_struct(kind) else []
        )
        if part not in known:
            found = shown(known) or str(kind)
            raise InputError(f"has no column {path!r}", where=name, found=f"{found} in {top!r}")
        kind = kind.field(known.index(part)).type
    return _Column(top, tuple(inner), kind)


def _check_kinds(text: _Column, labels: list[_Column], name: str) -> None:
    """Raise InputError for columns whose types are not those of text, ids or times."""
    from pyarrow import types

    kind = text.kind
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        kind = kind.value_type
    if not _is_text(kind):
        what = f"the column {text.name!r} is not text"
        raise InputError(what, where=name, found=str(text.kind), do="check --text-field")
    simple = (types.is_integer, types.is_floating, types.is_decimal, types.is_date,
              types.is_timestamp, types.is_null, _is_text)  # fmt: skip
    for column in labels:
        if not any(is_one(column.kind) for is_one in simple):
            what = f"the column {column.name!r} has neither text nor numbers nor dates"
            do = "check --id-field and --time-field"
            raise InputError(what, where=name, found=str(column.kind), do=do)


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    kind = kind.value_type if types.is_dictionary(kind) else kind
    known = (types.is_string, types.is_large_string, types.is_binary, types.is_large_binary)
    return any(is_one(kind) for is_one in known)


def _texts(column: Any) -> list[bytes | None]:
    """Return the texts of a column as UTF-8; null where a text, or a part of a list, is null."""
    import pyarrow

    if not _is_text(column.type):
        lists = column.cast(pyarrow.large_list(pyarrow.large_binary())).to_pylist()
        return [None if parts is None or None in parts else b" ".join(parts) for parts in lists]
    values: list[bytes | None] = column.cast(pyarrow.large_binary()).to_pylist()
    return values


def _labels(column: Any) -> list[str]:
    """Return ids or times as text, "" for null; dates and timestamps in ISO 8601, in UTC."""
    import pyarrow
    from pyarrow import types

    if types.is_timestamp(column.type) and column.type.tz:
        column = column.cast(pyarrow.timestamp(column.type.unit, "UTC"))
    if types.is_floating(column.type):
        column = pyarrow.compute.if_else(pyarrow.compute.is_nan(column), None, column)
    return [value or "" for value in column.cast(pyarrow.large_string()).to_pylist()]


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        do = f"{install('parquet')}, or save the texts as JSONL"
        raise UnavailableError("Parquet files need pyarrow", do=do) from None
    return pyarrow, parquet
