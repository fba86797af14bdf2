"""Record formats: a record is a line wherever blocks end, and errors name the line."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from corpora import assert_one_line, read, record_text
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import InputError, OptionError
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.inputs.document_index import Documents, Record, documents_bytes
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import columns, formats
from wordgeom.corpus.records.fields import skipped_note

letters = st.text(st.sampled_from("ab é\n\r\u2028東😀\\\"'"), max_size=12)
cells = st.text(st.sampled_from("ab é\u2028東😀\"'"), max_size=12)
small = st.integers(1, 40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("records")


def write(folder: Path, name: str, content: str | bytes) -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def lines(path: Path, block: int = 1 << 21, **options: Any) -> tuple[list[str], Source]:
    """The lines read from a file."""
    text, source = record_text(path, block, **options)
    return text.split("\n"), source


def assert_rejected(path: Path, *parts: str, **options: Any) -> None:
    with pytest.raises(InputError) as caught:
        lines(path, **options)
    assert_one_line(caught, path, *parts)


# ── JSON Lines ───────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.one_of(st.none(), letters, st.lists(letters))), small, st.booleans())
def test_the_text_of_each_object_is_a_line(
    folder: Path, texts: list[str | list[str] | None], block: int, escaped: bool
):
    rows = [
        "" if t is None else json.dumps({"id": k, "a": {"b": t}}, ensure_ascii=escaped)
        for k, t in enumerate(texts)
    ]
    path = write(folder, "t.jsonl", "\n".join(rows))
    made, source = lines(path, block, text_field="a.b", id_field="id")
    joined = [" ".join(t) if isinstance(t, list) else t or "" for t in texts]
    assert made == ([t.replace("\n", " ") for t in joined] or [""])
    there = [k for k, t in enumerate(texts) if t is not None]
    assert list(source.documents) == [Record(str(k), "", k + 1) for k in there]


def test_a_name_with_a_dot_is_a_name_before_it_is_a_path(folder: Path):
    path = write(folder, "t.jsonl", '{"a.b": "x", "a": {"b": "y"}}\r\n\n{"a": {"b": "z"}}')
    assert lines(path, text_field="a.b")[0] == ["x", "", "z"]


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ('{"text": "x"', ["is not JSON: expecting ',' delimiter at column 13"]),
        ('{"text": "a\tb"}', ["is not JSON: invalid control character at column 12"]),
        ("{} x", ["is not JSON: extra data at column 4"]),
        ('["x"]', ["is not an object, found ['x']; write one object per line"]),
        ('{"title": "x"}', ["has no field 'text', found title; name the field"]),
        ('{"text": null}', ["the field 'text' is not text, found null; the text must be a string"]),
        ('{"text": ["a", 1]}', ["the field 'text' is not text, found [\"a\", 1]"]),
        ('{"text": ' + "[" * 100_000, ["JSON is nested too deeply"]),
        ('{"n": ' + "9" * 5_000 + "}", ["JSON cannot be parsed: "]),
        ('{"text": "\\ud800"}', ["contains an unpaired surrogate, found \\ud800; correct it"]),
    ],
)
def test_lines_without_an_object_with_text_are_rejected(folder: Path, row: str, parts: list[str]):
    path = write(folder, "t.jsonl", '{"text": "ok"}\n' * 3 + row + "\n")
    assert_rejected(path, "line 4: ", *parts)


def test_lone_surrogates_are_replaced_or_skipped(folder: Path):
    path = write(folder, "t.jsonl", '{"text": "a\\ud800\\ud83d\\ude00"}\n{"text": "b"}')
    for mode, expected in (("replace", "a\ufffd😀"), ("skip", "a😀")):
        made, source = lines(path, bad_bytes=mode)
        assert (made, source.repaired) == ([expected, "b"], 1)


@pytest.mark.parametrize("row", ["{}", '{"id": ""}', '{"id": null}', '{"id": true}', '{"id": []}'])
def test_a_requested_id_must_exist(folder: Path, row: str):
    whole = '{"text": "", "id": 1}\n' + json.dumps({"text": "", **json.loads(row)})
    path = write(folder, "t.jsonl", whole)
    assert_rejected(path, "line 2: has no 'id', required by --id-field, found ", id_field="id")


def test_times_that_are_missing_null_or_of_another_type_are_left_to_the_report(folder: Path):
    values = ['"y": 1990', '"y": null', '"x": 1', '"y": "soon"', '"y": [1990]', '"y": ""']
    path = write(folder, "t.jsonl", "\n".join(f'{{"text": "", {v}}}' for v in values))
    for mode in ("error", "skip"):
        _, source = lines(path, time_field="y", bad_records=mode)
        times = [record.time for record in source.documents]
        assert times == ["1990", "", "", "soon", "[1990]", ""]
        assert source.bad_records == 0


def test_a_field_of_times_that_no_record_has_is_an_error(folder: Path):
    path = write(folder, "t.jsonl", '{"text": "a", "year": 1}\n' * 3)
    for mode in ("error", "skip"):
        what = "'yaer' is in none of the records (3 read), found text, year; check --time-field"
        assert_rejected(path, what, time_field="yaer", bad_records=mode)


@pytest.mark.parametrize("block", [5, 1 << 21])
@pytest.mark.parametrize(
    ("name", "content", "fields", "texts", "rows", "first"),
    [
        (
            "b.jsonl",
            '{"text": "a", "i": 1}\n{"text": \n[]\n{"text": null, "i": 2}\n{"i": 3}\n'
            '{"text": "b", "i": null}\n{"text": "c", "i": 4}',
            {"id_field": "i"},
            ["a", "", "", "", "", "", "c"],
            [("1", 1), ("4", 7)],
            "line 2: is not JSON",
        ),
        (
            "b.tsv",
            "i\tt\n1\ta\n2\n3\tb\tc\n\td\n4\te\n",
            {"text_field": "t", "id_field": "i"},
            ["", "a", "", "", "", "e", ""],
            [("1", 2), ("4", 6)],
            "line 3: needs 2 columns, found 1",
        ),
        (
            "b.csv",
            'i,t\n1,"a\nb"\n2\n3,"x"y,z\n,d\n\n4,e\n',
            {"text_field": "t", "id_field": "i"},
            ["a b", "e", ""],
            [("1", 2), ("4", 8)],
            "line 4: needs 2 columns, found 1",
        ),
    ],
)
def test_malformed_records_are_skipped_and_counted(
    folder: Path,
    block: int,
    name: str,
    content: str,
    fields: dict[str, str],
    texts: list[str],
    rows: list[tuple[str, int]],
    first: str,
):
    path = write(folder, name, content)
    assert_rejected(path, first, ", or pass --bad-records skip", **fields)
    made, source = lines(path, block, bad_records="skip", **fields)
    assert made == texts
    assert [(record.id, record.line) for record in source.documents] == rows
    assert source.bad_records == (5 if name == "b.jsonl" else 3)
    assert first in source.first_bad
    assert "--bad-records" not in source.first_bad
    (note,) = skipped_note([Source("x"), source])
    assert note.startswith(f"skipped {source.bad_records} malformed records; the first: {path}")


def test_a_very_long_line_is_rejected(folder: Path):
    path = write(folder, "t.jsonl", '{"text": "a"}\n{"text": "' + 999 * "a " + '"}\n')
    with patch.object(readers, "_LONGEST", 500), pytest.raises(InputError) as caught:
        lines(path, 100)
    assert_one_line(caught, path, "line 2: the line has more than 5", "put each record")


# ── Tab-separated values ─────────────────────────────────────────────────────────────────────


@given(
    st.lists(st.one_of(st.none(), st.tuples(cells, cells, cells))),
    st.integers(0, 2),
    small,
    st.booleans(),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_column_by_number_or_by_name(
    folder: Path,
    rows: list[tuple[str, str, str] | None],
    column: int,
    block: int,
    named: bool,
    end: str,
):
    table = [("x", "y", "z"), *rows] if named else rows
    joined = ["" if row is None else "\t".join(row) for row in table]
    path = write(folder, "t.tsv", end.join(joined))
    made, _ = lines(path, block, text_field="xyz"[column] if named else str(column + 1))
    expected = ["" if row is None else row[column] for row in rows]
    assert [line.removesuffix("\r") for line in made] == ([""] * named + expected or [""])


def test_ids_and_times_of_a_table_are_indexed(folder: Path):
    path = write(folder, "t.tsv", "year\ttext\twho\n1946\ta b\tARG\n\n1947\tc\tAUS\n")
    made, source = lines(path, 16, text_field="text", id_field="who", time_field="year")
    assert made == ["", "a b", "", "c", ""]
    assert list(source.documents) == [Record("ARG", "1946", 2), Record("AUS", "1947", 4)]


@pytest.mark.parametrize(
    ("table", "options", "parts"),
    [
        (
            "a\tb\nc\n",
            {"text_field": "1"},
            ["needs 2 columns, found 1; correct it, pass --input-format csv"],
        ),
        ("a\n\nc\td\te\n", {"text_field": "1"}, ["line 3: needs 1 column, found 3"]),
        ("a\tb\n", {"text_field": "3"}, ["line 1: has no column 3, found 2 columns: a, b"]),
        ("a\tb\n", {"text_field": "c"}, ["line 1: has no column 'c', found a, b; name a column"]),
        ("a\ta\n", {"text_field": "a"}, ["line 1: has more than one column 'a', found a, a"]),
        (
            "a\tb\nx\t\n",
            {"text_field": "a", "id_field": "b"},
            ["line 2: has no id, found nothing in column 2; correct"],
        ),
        ("\t" * (columns.MOST + 1), {"text_field": "1"}, ["line 1: has too many columns"]),
    ],
)
def test_a_ragged_table_and_a_missing_column_are_rejected(
    folder: Path, table: str, options: dict[str, str], parts: list[str]
):
    assert_rejected(write(folder, "t.tsv", table), *parts, **options)


def test_a_table_needs_a_text_field_and_the_error_lists_its_columns(folder: Path):
    path = write(folder, "t.tsv", "1946\tARG\tThe delegation\nx")
    with pytest.raises(OptionError) as caught:
        lines(path)
    assert_one_line(
        caught, path, "--text-field is needed", "found 1 '1946', 2 'ARG', 3 'The delegation'"
    )
    with pytest.raises(OptionError) as caught:
        formats.resolve(["-"], CorpusOptions(input_format="tsv"))
    assert_one_line(caught, "-: --text-field is needed for .tsv")


# ── CoNLL-U ──────────────────────────────────────────────────────────────────────────────────

TREE = """# text = Vámonos al mar
1-2\tVámonos\t_\t_\t_\t_\t_\t_\t_\t_
1\tVamos\tir\tVERB\t_\t_\t0\troot\t_\t_
2\tnos\t_\tPRON\t_\t_\t1\tobj\t_\t_
2.1\tX\tx\t_\t_\t_\t_\t_\t_\t_

1\t20 000\t20 000\tNUM\t_\t_\t0\troot\t_\t_
2\t_\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_
"""


@pytest.mark.parametrize("block", [7, 100, 1 << 21])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_sentence_is_a_line_of_its_syntactic_words(folder: Path, block: int, end: str):
    path = write(folder, "t.conllu", TREE.replace("\n", end))
    assert lines(path, block)[0] == ["Vamos nos ", "20_000 _ "]
    assert lines(path, block, column="lemma")[0] == ["ir nos ", "20_000 _ "]


def test_words_of_a_treebank_stay_unchanged_unless_a_tokeniser_is_given(folder: Path):
    path = write(folder, "t.conllu", TREE)
    for tokeniser, first in (("auto", "Vamos"), ("words", "vamos")):
        asked = formats.resolve([str(path)], CorpusOptions(min_count=1, tokeniser=tokeniser))
        made = read([path], asked)
        assert (next(iter(made.vocabulary)), made.documents) == (first, 2)


@pytest.mark.parametrize(
    ("row", "parts"),
    [
        ("1\ta\ta", ["needs 10 columns, found 3; CoNLL-U has ten"]),
        ("x" + 9 * "\t_", ["needs a word number in column 1, found 'x'"]),
        ("1\t\t" + 7 * "\t_", ["the form is empty; write _"]),
        ("1\t" + "x" * 5_000 + 8 * "\t_", ["the word is too long, found 5,001 bytes"]),
    ],
)
def test_invalid_conllu_is_rejected(folder: Path, row: str, parts: list[str]):
    assert_rejected(write(folder, "t.conllu", "# c\n\n" + row + "\n"), "line 3: ", *parts)


# ── FASTA ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("block", [1, 5, 1 << 21])
@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("\nACG\n>a\nA", ["line 2: no header before the sequence", "; FASTA begins with >"]),
        (">a\nACG\nA1G\n", ["line 3: invalid character in a sequence, found '1'; sequences"]),
        (">a\nACG\nAéG\n", ["line 3: invalid character in a sequence, found 0xc3"]),
        (">a\nACG\n> \nACG\n", ["line 3: has no id, found nothing after >"]),
        (">a\nACG\n>", ["line 3: has no id, found nothing after >"]),
    ],
)
def test_invalid_fasta_is_rejected(folder: Path, block: int, text: str, parts: list[str]):
    path = write(folder, "t.fasta", text)
    with pytest.raises(InputError) as caught:
        lines(path, block, id_field="header")
    assert_one_line(caught, path, *parts)


# ── Documents ────────────────────────────────────────────────────────────────────────────────


@given(st.lists(st.tuples(letters, letters, st.integers(1, 99)).map(lambda t: Record(*t))))
def test_documents_return_ids_and_times_with_breaks_as_spaces(records: list[Record]):
    documents = Documents()
    documents.add(records[:2])
    documents.add(records[2:])
    table = str.maketrans("\n\r\t", "   ")
    flat = [Record(r.id.translate(table), r.time.translate(table), r.line) for r in records]
    assert list(documents) == list(Documents(documents.content)) == flat
    assert len(documents) == len(Documents(documents.content)) == len(records)
    rows = documents_bytes([Documents(), documents]).decode().split("\n")
    assert rows == [*(f"2\t{r.line}\t{r.id}\t{r.time}" for r in flat), ""]


def test_documents_are_not_a_field_of_a_source(folder: Path):
    path = write(folder, "t.tsv", "a\tb\n")
    _, source = lines(path, text_field="1", id_field="2")
    fields = asdict(source)
    assert Source(**json.loads(json.dumps(fields))) == source
    assert (len(source.documents), "documents" in fields) == (1, False)
