"""Parquet: each row is a record, whatever its types, row groups and batches."""

from __future__ import annotations

import builtins
import gzip
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from corpora import assert_one_line, build, build_documents, record_text

from wordgeom.cli import main
from wordgeom.core.errors import FormatError, InputError, UnavailableError, WordgeomError
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.inputs.document_index import Record
from wordgeom.corpus.inputs.readers import Source, file_digest
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.matrices.document_term import StoredDocuments
from wordgeom.storage.store import Store

pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is optional")
parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is optional")


def put(folder: Path, columns: dict[str, Any], name: str = "t.parquet", **how: Any) -> Path:
    path = folder / name
    parquet.write_table(pyarrow.table(columns), path, **how)
    return path


def texts(path: Path, block: int = 1 << 21, **options: Any) -> tuple[list[str], Source]:
    """The lines read from a file."""
    text, source = record_text(path, block, **options)
    assert source.digest == source.running.hexdigest() == file_digest(str(path))
    assert source.bytes == path.stat().st_size
    return text.split("\n")[:-1], source


def strings(kind: Any) -> Any:
    return pyarrow.array(["a b", "", "é\n東"], kind)


@pytest.mark.parametrize("block", [1, 1 << 21])
@pytest.mark.parametrize(
    "column",
    [
        strings(pyarrow.string()),
        strings(pyarrow.large_string()),
        strings(pyarrow.binary()),
        strings(pyarrow.string()).dictionary_encode(),
        pyarrow.array([["a", "b"], [], ["é\n東"]]),
        pyarrow.array([["a", "b"], [], ["é\n東"]], pyarrow.large_list(pyarrow.large_string())),
    ],
    ids=lambda column: str(column.type)[:20],
)
def test_texts_of_every_type_are_lines(tmp_path: Path, column: Any, block: int):
    path = put(tmp_path, {"text": column}, row_group_size=2)
    assert texts(path, block)[0] == ["a b", "", "é 東"]


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        (pyarrow.array([1990, 1991]), ["1990", "1991"]),
        (pyarrow.array([1990.0, 1990.5]), ["1990", "1990.5"]),
        (pyarrow.array(["a", "b"]), ["a", "b"]),
        (pyarrow.array(["a", "b"]).dictionary_encode(), ["a", "b"]),
        (pyarrow.array([date(1950, 7, 31), date(1, 1, 1)]), ["1950-07-31", "0001-01-01"]),
        (
            pyarrow.array([datetime(1950, 7, 31, 12, tzinfo=UTC)] * 2),
            ["1950-07-31 12:00:00.000000Z"] * 2,
        ),
        (
            pyarrow.array([np.datetime64("1950-07-31T12:00:00.5", "ns")] * 2),
            ["1950-07-31 12:00:00.500000000"] * 2,
        ),
    ],
    ids=lambda value: str(getattr(value, "type", "")),
)
def test_ids_and_times_of_every_type_are_text(tmp_path: Path, column: Any, labels: list[str]):
    path = put(tmp_path, {"text": ["x", "y"], "k": column})
    _, source = texts(path, id_field="k", time_field="k")
    assert list(source.documents) == [Record(t, t, k) for k, t in enumerate(labels, 1)]


def test_a_field_of_a_struct_is_a_column_and_a_name_with_a_dot_comes_first(tmp_path: Path):
    inner = [{"body": "a", "n": 1}, None, {"body": "c", "n": 3}]
    path = put(tmp_path, {"doc": inner, "u.v": ["x", "y", "z"], "u": [{"v": "no"}] * 3})
    made, source = texts(path, text_field="doc.body", time_field="doc.n", bad_records="skip")
    assert made == ["a", "c"]
    assert list(source.documents) == [Record("", "1", 1), Record("", "3", 3)]
    assert texts(path, text_field="u.v")[0] == ["x", "y", "z"]


@pytest.mark.parametrize("block", [1, 1 << 21])
def test_null_texts_and_ids_are_bad_records_and_null_times_are_missing(tmp_path: Path, block: int):
    path = put(
        tmp_path,
        {
            "text": ["a", None, "c", "d", "e"],
            "id": ["1", "2", None, "", "5"],
            "year": [1990.0, 1991.0, 1992.0, 1993.0, float("nan")],
        },
        row_group_size=2,
    )
    options = {"id_field": "id", "time_field": "year"}
    with pytest.raises(InputError) as caught:
        texts(path, block, **options)
    assert_one_line(caught, path, "line 2: the field 'text' is not text, found null")
    made, source = texts(path, block, bad_records="skip", **options)
    assert made == ["a", "e"]
    assert list(source.documents) == [Record("1", "1990", 1), Record("5", "", 5)]
    assert source.bad_records == 3
    assert "line 2: the field 'text' is not text" in source.first_bad


def test_invalid_utf_8_is_treated_as_in_text(tmp_path: Path):
    path = put(tmp_path, {"text": [b"ok", b"caf\xe9 x"]})
    with pytest.raises(InputError) as caught:
        texts(path)
    assert_one_line(caught, path, "line 2: not UTF-8 at byte 3 of the text; pass --bad-bytes")
    for mode, expected in (("replace", "caf\ufffd x"), ("skip", "caf x")):
        made, source = texts(path, bad_bytes=mode)
        assert (made, source.repaired) == (["ok", expected], 1)


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (
            {"text_field": "body"},
            ["has no column 'body', found n, s, text, ok; name a column with"],
        ),
        ({"text_field": "s.y"}, ["has no column 's.y', found x in 's'"]),
        ({"text_field": "n.y"}, ["has no column 'n.y', found int64 in 'n'"]),
        ({"text_field": "n"}, ["the column 'n' is not text, found int64; check --text-field"]),
        ({"id_field": "s"}, ["the column 's' has neither text nor numbers nor dates, found str"]),
        ({"time_field": "ok"}, ["the column 'ok' has neither text nor numbers nor dates, found b"]),
    ],
)
def test_missing_columns_and_wrong_types_are_named(
    tmp_path: Path, options: dict[str, Any], parts: list[str]
):
    path = put(tmp_path, {"n": [1], "s": [{"x": "a"}], "text": ["a"], "ok": [True]})
    with pytest.raises(InputError) as caught:
        texts(path, **options)
    assert_one_line(caught, path, *parts)


def test_files_that_are_not_parquet_are_rejected(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    whole = put(tmp_path, {"text": ["a b"] * 99}).read_bytes()
    cases: list[tuple[bytes, type[WordgeomError], str]] = [
        (b"", FormatError, "not a Parquet file"),
        (b"text\na b\n", FormatError, "not a Parquet file; check the file"),
        (gzip.compress(whole), FormatError, "not a Parquet file; decompress it"),
        (
            whole[:-9],
            FormatError,
            "broken Parquet file: Parquet magic bytes not found in footer; do",
        ),
        (whole[:20] + bytes(40) + whole[60:], FormatError, "broken Parquet file: "),
        (whole.replace(b"text", b"te\xfft"), FormatError, "broken Parquet file: "),
    ]
    for content, kind, said in cases:
        path = tmp_path / "x.parquet"
        path.write_bytes(content)
        with pytest.raises(kind) as caught:
            texts(path)
        assert_one_line(caught, path, said)
    (tmp_path / "p.txt").write_bytes(whole)
    with pytest.raises(InputError) as caught_text:
        texts(tmp_path / "p.txt")
    assert_one_line(caught_text, "is Parquet, not text; pass --input-format parquet")
    assert texts(tmp_path / "p.txt", input_format="parquet")[0] == ["a b"] * 99
    with pytest.raises(InputError) as caught_pipe:
        list(formats.blocks(Source("-"), b"\n", CorpusOptions(input_format="parquet")))
    assert_one_line(caught_pipe, "-: Parquet cannot be read from a pipe; name a file")
    there = builtins.__import__

    def without(name: str, *more: Any, **kw: Any) -> Any:
        if name.startswith("pyarrow"):
            raise ImportError(name)
        return there(name, *more, **kw)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(UnavailableError) as caught_missing:
        texts(tmp_path / "t.parquet")
    assert_one_line(caught_missing, "need pyarrow; run pip install 'wordgeom[parquet]'")


def test_shards_of_a_dataset_are_one_corpus_at_any_threads_and_blocks(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    data = tmp_path / "hub" / "data"
    data.mkdir(parents=True)
    lines = [f"word{k % 7} of line {k}\nword{k % 5}" for k in range(300)]
    for shard in range(3):
        part = slice(100 * shard, 100 * shard + 100)
        columns = {"text": lines[part], "year": [1990 + k for k in range(100)]}
        put(data, columns, f"train-0000{shard}-of-00003.parquet", row_group_size=17)
    digests = set()
    for number, (block, threads) in enumerate([(1 << 21, 1), (300, 3), (64, 2)]):
        with patch.object(readers, "BLOCK", block):
            names, out = [data], tmp_path / f"d{number}"
            made = build_documents(names, out, threads=threads, time_field="year").store.path
            build(names, tmp_path / f"c{number}", threads=threads)
        stored = StoredDocuments.open(made)
        assert [(d.file, d.line) for d in stored.documents()] == [
            (file, line) for file in (1, 2, 3) for line in range(1, 101)
        ]
        words, counts = stored.vocabulary.words, stored.to_scipy().toarray()
        assert all(counts[k, words.index(f"word{k % 7}")] for k in range(300))
        digests.add(stored.store.digest)
    assert len(digests) == 1
    assert len({Store.open(f"c{k}").digest for k in range(3)}) == 1
    command = ["build-dtm", "hub", "--time-field", "year", "--min-count", "1", "-o", "d0"]
    assert main(command) == 0
    assert "d0: up to date" in capsys.readouterr().out
    (tmp_path / "hub" / "README.md").write_text("# A dataset\n")
    assert main([*command[:-4], "-o", "other"]) == 2
    assert "README.md: --time-field applies to" in capsys.readouterr().err
    assert main(["build-cooc", "hub", "--min-count", "1", "-o", "other"]) == 0
    said = "files of several formats: parquet: 3 (hub/data/train-00000-of-00003.parquet); text: 1 ("
    assert said + "hub/README.md)" in capsys.readouterr().err


def test_a_text_that_memory_has_no_room_for_is_rejected_in_one_line(tmp_path):
    path = put(tmp_path, {"text": ["a b", "c " * 300]})
    source = Source(str(path))
    source.longest = 1201  # twice what a text may have
    options = formats.resolve([str(path)], CorpusOptions())
    assert b"".join(b.text for b in formats.blocks(source, b" \n", options)).count(b"c") == 300
    source = Source(str(path))
    source.longest = 1199
    with pytest.raises(InputError) as caught:
        list(formats.blocks(source, b" \n", options))
    what = "line 2: has a text of 600 bytes, more than 599; split it"
    assert_one_line(caught, what, "raise --memory")


def test_long_texts_are_read_one_at_a_time_where_memory_is_short(tmp_path):
    path = put(tmp_path, {"text": [f"{k} " * readers.BLOCK for k in range(5)]})
    options = formats.resolve([str(path)], CorpusOptions())

    def blocks(longest: int) -> int:
        source = Source(str(path))
        source.longest = longest
        return len(list(formats.blocks(source, b" \n", options)))

    assert blocks(longest=30 << 20) == 6  # the last block is empty
    assert blocks(longest=2 << 30) == 2
