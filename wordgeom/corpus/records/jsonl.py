"""JSON Lines: one object a line; its text field is a document."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from wordgeom.core.errors import InputError
from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Block, Source
from wordgeom.corpus.records.fields import SHOWN, Fields, fail, shown, with_text

_ABSENT = object()
_SURROGATES = re.compile("[\ud800-\udfff]")
_parse = json.JSONDecoder().decode


def read_jsonl(
    lines: Iterator[Block], source: Source, fields: Fields, bad_bytes: str
) -> Iterator[Block]:
    r"""Yield the text of each record as a line; blank lines stay.

    A text is a string, or a list of strings, which are joined by spaces; line ends in it become
    spaces. bad_bytes: what to do with lone surrogates (\ud800). Raises InputError naming the line,
    also if no record of the first block has the field of the time.
    """
    timeless = fields.time is not None  # whether no record has had the field of the time
    for block in lines:
        texts, records = _records(block, source, fields, timeless, bad_bytes)
        timeless = timeless and not records
        source.documents.add(records)
        made = [with_text(block, b"\n".join(texts))]
        del texts, block  # a record may be long
        yield made.pop()


def _records(
    block: Block, source: Source, fields: Fields, timeless: bool, bad_bytes: str
) -> tuple[list[bytes], list[Record]]:
    """Return the texts of a block's lines in UTF-8, and the records that are listed.

    timeless: raise InputError if none of them has the field of the time.
    """
    texts: list[bytes] = []
    records: list[Record] = []
    number = block.line - 1  # enumerate would hold a line that may be long
    for line in _lines(block.text):
        number += 1
        if not line or line.isspace():
            texts.append(b"")
            continue
        try:
            record = _object(line, source.where, number)
            del line
            text = _text(record, fields.text, source.where, number)
            key = _id(record, fields.id, source.where, number)
        except InputError as error:
            fields.reject(error, source)
            texts.append(b"")
            continue
        texts.append(_encoded(text.replace("\n", " "), source, number, bad_bytes))
        if fields.has_labels or source.listed:
            time = _ABSENT if fields.time is None else _value(record, fields.time)
            timeless = timeless and time is _ABSENT
            records.append(Record(key, _time(time), number))
    if timeless and records:
        what = f"{fields.time!r} is in none of the records ({len(records):,} read)"
        found, do = shown(list(record)) or "{}", "check --time-field"
        raise InputError(what, where=source.name, found=found, do=do)
    return texts, records


def _lines(text: bytes) -> Iterator[str]:
    """Yield the lines of a text, one at a time in memory."""
    view, start = memoryview(text), 0
    while (end := text.find(b"\n", start)) >= 0:
        yield str(view[start:end], "utf-8")
        start = end + 1
    yield str(view[start:], "utf-8")


def _object(line: str, name: str, number: int) -> dict[str, Any]:
    try:
        record = _parse(line)
    except json.JSONDecodeError as error:
        what = error.msg.removesuffix(" at")
        why = f"{what[0].lower()}{what[1:]} at column {error.colno}"
        fail(name, number, f"is not JSON: {why}", do="write one object per line")
    except RecursionError:
        fail(name, number, "JSON is nested too deeply", do="write one object per line")
    except ValueError as error:  # a number of too many digits
        fail(name, number, f"JSON cannot be parsed: {str(error).split(';')[0]}")
    if not isinstance(record, dict):
        do = 'write one object per line, such as {"text": "…"}'
        fail(name, number, "is not an object", repr(record)[:SHOWN], do)
    return record


def _value(record: dict[str, Any], path: str) -> Any:
    """Return a field by its name, or by a path such as a.b for the field b of the object a."""
    if path in record:
        return record[path]
    value: Any = record
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            return _ABSENT
        value = value[key]
    return value


def _text(record: dict[str, Any], field: str, name: str, number: int) -> str:
    value = _value(record, field)
    if isinstance(value, str):
        return value
    if value is _ABSENT:
        do = "name the field of the text with --text-field"
        fail(name, number, f"has no field {field!r}", shown(list(record)) or "{}", do)
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return " ".join(value)
    do = "the text must be a string or a list of strings"
    fail(name, number, f"the field {field!r} is not text", json.dumps(value)[:SHOWN], do)


def _id(record: dict[str, Any], field: str | None, name: str, number: int) -> str:
    """Return the id, which must be a non-empty string or a number."""
    if field is None:
        return ""
    value = _value(record, field)
    if (isinstance(value, str) and value) or type(value) in (int, float):
        return str(value)
    found = (shown(list(record)) or "{}") if value is _ABSENT else json.dumps(value)[:SHOWN]
    do = "correct the record, or check --id-field"
    fail(name, number, f"has no {field!r}, required by --id-field", found, do)


def _time(value: Any) -> str:
    """Return a time as text, "" for none; `matrices/times.py` reports what is not a time."""
    if value is _ABSENT or value is None:
        return ""
    return str(value) if type(value) in (str, int, float) else json.dumps(value)


def _encoded(text: str, source: Source, number: int, bad_bytes: str) -> bytes:
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        pass
    surrogates = _SURROGATES.findall(text)
    if bad_bytes == "error":
        do = "correct it, or pass --bad-bytes replace or --bad-bytes skip"
        found = f"\\u{ord(surrogates[0]):04x}"
        fail(source.where, number, "contains an unpaired surrogate", found, do)
    source.repaired += len(surrogates)
    substitute = "\ufffd" if bad_bytes == "replace" else ""
    return _SURROGATES.sub(substitute, text).encode("utf-8")
