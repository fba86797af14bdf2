"""CSV: each record is a line, whatever its quotes, its delimiter and the ends of blocks."""

from __future__ import annotations

import csv
import gzip
import io
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from corpora import assert_one_line, build, build_documents, record_text
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import InputError, OptionError
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.records import csv_records
from wordgeom.corpus.records.csv_records import DELIMITERS, delimiter_of
from wordgeom.matrices.document_term import StoredDocuments

cells = st.text(st.sampled_from("ab é,;\t|\n\r\u2028\u0085\v東😀\"'"), max_size=9)
REVIEWS = """id,date,stars,review
1,2019-03-01,5,"Great coffee, friendly ""baristas"" too
and a second paragraph"
2,2019-04-11,1,Terrible
3,,3,"Fine; nothing special"
"""


def put(folder: Path, content: str | bytes, name: str = "t.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def texts(path: Path, block: int = 1 << 21, **options: Any) -> tuple[list[str], Source]:
    """The lines read from a file, without the empty one after the last line end."""
    text, source = record_text(path, block, **options)
    return text.split("\n")[:-1], source


@given(
    st.lists(st.tuples(cells, cells, cells), min_size=1),
    st.integers(0, 2),
    st.integers(1, 40),
    st.sampled_from(sorted(DELIMITERS)),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    st.sampled_from(["", "\ufeff"]),
)
def test_rows_that_a_program_wrote_are_read_as_they_were(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[tuple[str, str, str]],
    column: int,
    block: int,
    delimiter: str,
    end: str,
    quoting: Any,
    mark: str,
):
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=DELIMITERS[delimiter], lineterminator=end, quoting=quoting)
    writer.writerows([("x", "y", "z"), *rows])
    path = put(tmp_path_factory.getbasetemp(), mark + out.getvalue())
    made, _ = texts(path, block, text_field="xyz"[column], delimiter=delimiter)
    assert [line.split() for line in made] == [row[column].split() for row in rows]


@pytest.mark.parametrize("block", [3, 50, 1 << 21])
@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_ids_times_and_lines_of_records_are_indexed(tmp_path: Path, block: int, sign: str):
    rows = list(csv.reader(io.StringIO(REVIEWS, newline="")))
    out = io.StringIO(newline="")
    csv.writer(out, delimiter=sign).writerows(rows)
    path = put(tmp_path, out.getvalue())
    labels = {"text_field": "review", "id_field": "id", "time_field": "date"}
    made, source = texts(path, block, **labels)
    first = 'Great coffee, friendly "baristas" too and a second paragraph'
    assert made == [first, "Terrible", "Fine; nothing special"]
    records = [Record("1", "2019-03-01", 2), Record("2", "2019-04-11", 4), Record("3", "", 5)]
    assert list(source.documents) == records
    by_number = texts(path, block, text_field="4", id_field="1", time_field="2")
    assert by_number[0] == made
    assert list(by_number[1].documents) == records
    assert by_number[1].header == {"found": "header", "cells": "id, date, stars, review"}


@pytest.mark.parametrize(
    ("text", "sign"),
    [
        ("text\nplain\n", ","),
        ("", ","),
        ("id;text\n1;a, b\n2;c, d, e\n", ";"),
        ("id;value;text\n1;3,5;a\n2;4,5;b\n", ";"),
        ("id,text\n1,a;b\n2,c\n", ","),
        ('id,text\n1,"a;b;c;d"\n2,"e;f;g;h"\n', ","),
        ("id;name, first;text\n1;x, y;a\n", ";"),
        ("id\ttext\n1\ta, b\n", "\t"),
        ("id|text\n1|a, b\n2|c\n", "|"),
        ("id,text\n1,a\n2,b,c\n", ","),
        ('id;text\n1;"a\n;', ";"),
    ],
)
def test_the_delimiter_is_recognised_by_the_first_rows(text: str, sign: str):
    assert delimiter_of(text.encode()) == sign


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("options", [{}, {"delimiter": "semicolon"}, {"text_field": "2"}])
def test_a_first_line_that_names_the_delimiter_is_no_row(tmp_path: Path, end: str, options: dict):
    rows = ["sep=;", "id;text", "1;the, cat; x", "2;a dog"]
    rows[2] = '1;"the, cat; x"'
    path = tmp_path / "excel.csv"
    path.write_bytes(end.join([*rows, ""]).encode("utf-8-sig"))
    assert texts(path, **{"text_field": "text", **options})[0] == ["the, cat; x", "a dog"]


def test_a_carriage_return_in_a_row_is_a_space(tmp_path: Path):
    path = put(tmp_path, "i,t\r\n1,a\rb\r\n2,c\r\n")
    assert texts(path, text_field="t")[0] == ["a b", "c"]


def test_line_ends_of_old_macintoshes_end_rows(tmp_path: Path):
    assert texts(put(tmp_path, "i,t\r1,a b\r2,c\r"), text_field="t")[0] == ["a b", "c"]


@pytest.mark.parametrize("block", [4, 1 << 21])
@pytest.mark.parametrize(
    ("content", "options", "parts"),
    [
        ('i,t\n1,a\n2,"b\n3,c\n', {}, ["line 3: a quoted cell is never closed; close it, or dou"]),
        ('i,t\n1,"a "b" c"\n', {}, ["line 2: malformed CSV: ',' expected after '\"' in line 2"]),
        ("i,t\n\n1\n", {}, ["line 3: needs 2 columns, found 1; quote cells that contain the del"]),
        ("i,t\n1,a,b\n", {}, ["line 2: needs 2 columns, found 3"]),
        ("i,u\n1,a\n", {}, ["line 1: has no column 't', found i, u; name a column"]),
        ("i,t,t\n1,a,b\n", {}, ["line 1: has more than one column 't', found i, t, t"]),
        ("i,t\n,a\n", {"id_field": "i"}, ["line 2: has no id, found nothing in column 1"]),
        ("a,b\n", {"text_field": "3"}, ["line 1: has no column 3, found 2 columns: a, b"]),
        (b"i,t\n1,caf\xe9\n", {}, ["not UTF-8 at byte 9"]),
    ],
)
def test_malformed_tables_are_rejected(
    tmp_path: Path, block: int, content: str | bytes, options: dict[str, str], parts: list[str]
):
    path = put(tmp_path, content)
    with pytest.raises(InputError) as caught:
        texts(path, block, **{"text_field": "t", **options})
    assert_one_line(caught, path, *parts)


def test_a_quote_that_is_never_closed_is_an_error_even_if_bad_records_are_skipped(tmp_path: Path):
    path = put(tmp_path, 'i,t\n1,a\n2,"b\n' + "3,c\n" * 9)
    for longest in (csv_records.LONGEST, 20):
        with patch.object(csv_records, "LONGEST", longest), pytest.raises(InputError) as caught:
            texts(path, text_field="t", bad_records="skip")
        assert_one_line(caught, path, "line 3: a quoted cell is never closed")


def test_a_long_cell_is_read(tmp_path: Path):
    text = "word " * 60_000
    assert texts(put(tmp_path, f'i,t\n1,"{text}"\n'), text_field="t")[0] == [text]


def test_a_table_needs_a_text_field_and_the_error_lists_its_columns(tmp_path: Path):
    with pytest.raises(OptionError) as caught:
        texts(put(tmp_path, '"id";"the\ntext"\n1;a\n'))
    assert_one_line(caught, "--text-field is needed for .csv, found 1 'id', 2 'the\\ntext'")


@pytest.mark.parametrize("content", ["", "i,t\n", "i,t", "\n\n"])
def test_a_table_without_records_is_empty(tmp_path: Path, content: str):
    assert texts(put(tmp_path, content), text_field="t")[0] == []


def test_counts_do_not_depend_on_threads_blocks_compression_or_pipes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    rows = [(k, 1990 + k % 9, f"word{k % 7},\nline {k} of the \"text\"\r\nword{k % 5}") for k in
            range(400)]  # fmt: skip
    out = io.StringIO(newline="")
    csv.writer(out).writerows([("i", "y", "t"), *rows])
    path = put(tmp_path, out.getvalue())
    packed = put(tmp_path, gzip.compress(out.getvalue().encode()), "p.csv.gz")
    labels = {"text_field": "t", "id_field": "i", "time_field": "y"}
    digests = set()
    for number, (name, block, threads) in enumerate(
        [(path, 1 << 21, 1), (path, 100, 3), (packed, 999, 2), (Path("-"), 64, 2)]
    ):
        pipe = io.TextIOWrapper(io.BufferedReader(io.BytesIO(out.getvalue().encode())))
        monkeypatch.setattr(sys, "stdin", pipe)
        options = {"threads": threads, "input_format": "csv", **labels}
        with patch.object(readers, "BLOCK", block):
            made = build_documents(name, tmp_path / f"d{number}", **options).store.path
            build(name, tmp_path / f"c{number}", **options) if name != Path("-") else None
        stored = StoredDocuments.open(made)
        assert [d.id for d in stored.documents()] == [str(row[0]) for row in rows]
        words = stored.vocabulary.words
        counts = stored.to_scipy().toarray()
        assert all(counts[k, words.index(f"word{k % 7}")] for k in range(len(rows)))
        digests.add(stored.store.digest)
    assert len(digests) == 1
