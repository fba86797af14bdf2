"""Ids and times of files: from their names, and from a table of metadata."""

from __future__ import annotations

import io
import sys
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from corpora import assert_one_line, build_documents

from wordgeom.cli import main
from wordgeom.core.errors import (
    InputError,
    MissingInputError,
    OptionError,
    OutputExistsError,
    WordgeomError,
)
from wordgeom.matrices.document_term import StoredDocuments

TEXT = "the cat sat\n\non the mat\nthe end\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Speeches of two years, one of them in a directory below, as the working directory."""
    monkeypatch.chdir(tmp_path)
    for name in ("texts/1970-speech.txt", "texts/1980-speech.txt", "texts/more/1990-other.txt"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(TEXT)
    return tmp_path


def labels(**options: Any) -> list[tuple[int, int, str, str]]:
    """File, line, id and time of each document."""
    made = build_documents([Path("texts")], Path("dtm"), force=True, **options)
    return [(*d,) for d in StoredDocuments.open(made.store.path).documents()]


def assert_rejected(kind: type[WordgeomError], *parts: str, **options: Any) -> None:
    with pytest.raises(kind) as caught:
        labels(**options)
    assert_one_line(caught, *parts)


@pytest.mark.parametrize(
    ("document", "lines"), [("file", [1]), ("block", [1, 3]), ("line", [1, 3, 4])]
)
def test_the_time_in_a_name_is_that_of_each_document(folder: Path, document: str, lines: list[int]):
    made = labels(document=document, time_from_name=r"(\d{4})")
    short = ["1970-speech.txt", "1980-speech.txt", "more/1990-other.txt"]
    ids = short if document == "file" else ["", "", ""]
    times = ["1970", "1980", "1990"]
    assert made == [(f, k, ids[f - 1], times[f - 1]) for f in (1, 2, 3) for k in lines]


def test_files_have_their_names_as_ids(folder: Path):
    assert [d[2] for d in labels(document="file")][:2] == ["1970-speech.txt", "1980-speech.txt"]
    assert {d[2] for d in labels()} == {""}


def test_records_take_the_time_of_their_file(folder: Path):
    Path("texts/1970.jsonl").write_text('{"text": "a", "i": "x"}\n\n{"text": "b", "i": "y"}\n')
    made = build_documents([Path("texts/1970.jsonl")], Path("r"), id_field="i",
                           time_from_name=r"^(\d+)\.")  # fmt: skip
    documents = StoredDocuments.open(made.store.path).documents()
    assert [tuple(d) for d in documents] == [(1, 1, "x", "1970"), (1, 3, "y", "1970")]


def test_a_name_without_a_time_is_an_error_or_the_file_is_skipped(folder: Path):
    Path("texts/README.txt").write_text("nothing\n")
    pattern = {"time_from_name": r"(\d{4})", "document": "file"}
    what = "texts/README.txt: its name does not match --time-from-name (\\d{4});"
    assert_rejected(InputError, what, "or pass --bad-records skip", **pattern)  # fmt: skip
    made = build_documents([Path("texts")], Path("dtm"), bad_records="skip", **pattern)
    assert "skipped 1 file without a time; the first: texts/README.txt" in made.notes
    assert "3 different times in 3 file names; texts/1970-speech.txt is of 1970" in made.notes
    documents = StoredDocuments.open(made.store.path).documents()
    assert [d.time for d in documents] == ["1970", "1980", "1990"]
    assert_rejected(InputError, "no file has a name that matches", bad_records="skip",
                    time_from_name="(x{4})")  # fmt: skip


def test_renamed_files_are_not_up_to_date(folder: Path):
    options = {"time_from_name": r"(\d{4})", "document": "block"}
    names = [Path("texts/1970-speech.txt")]
    build_documents(names, Path("dtm"), **options)
    assert "up to date" in build_documents(names, Path("dtm"), **options).summary
    Path("texts/1970-speech.txt").rename("texts/2070-speech.txt")
    with pytest.raises(OutputExistsError):
        build_documents([Path("texts/2070-speech.txt")], Path("dtm"), **options)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("name", "table"),
    [
        ("m.tsv", "file\tyear\tspeaker\n1980-speech.txt\t1981\tB\n1970-speech.txt\t1971\tA\n"
                  "1990-other.txt\t\tC\n"),
        ("m.csv", '\ufeffyear;Path;speaker\n1981;"texts/1980-speech.txt";B\n\n'
                  "1971;./texts/1970-speech.txt;A\n;elsewhere/more/1990-other.txt;C\n"),
    ],
)  # fmt: skip
def test_a_table_has_the_ids_and_times(folder: Path, name: str, table: str, end: str):
    Path(name).write_bytes(table.replace("\n", end).encode())
    asked = {"metadata": name, "document": "file"}
    made = labels(id_field="speaker", time_field="year", **asked)
    assert made == [(1, 1, "A", "1971"), (2, 1, "B", "1981"), (3, 1, "C", "")]
    made = labels(time_field="year", **asked)
    assert [d[2:] for d in made][:2] == [("1970-speech.txt", "1971"), ("1980-speech.txt", "1981")]
    made = labels(id_field="speaker", time_from_name=r"(\d{4})", **asked)
    assert [d[2:] for d in made] == [("A", "1970"), ("B", "1980"), ("C", "1990")]


def test_a_table_among_the_files_is_not_one_of_them(folder: Path):
    Path("texts/m.csv").write_text("file,year\n1970-speech.txt,1970\n")
    made = labels(metadata="texts/m.csv", time_field="year", document="file")
    assert [d[3] for d in made] == ["1970", "", ""]
    with pytest.raises(MissingInputError) as caught:
        build_documents([Path("texts/m.csv")], Path("n"), metadata="texts/m.csv", time_field="year")
    assert_one_line(caught, "is the table of --metadata; name text files")


def test_directories_tell_files_of_one_name_apart(folder: Path):
    for year in ("1970", "1980"):
        Path(f"texts/{year}").mkdir()
        Path(f"texts/{year}/a.txt").write_text(TEXT)
    table = "file\tyear\n1970/a.txt\t70\ntexts/1980/a.txt\t80\n"
    Path("m.tsv").write_text(table)
    made = labels(metadata="m.tsv", time_field="year", document="file")
    assert [d[2:] for d in made if d[3]] == [("1970/a.txt", "70"), ("1980/a.txt", "80")]
    Path("m.tsv").write_text("file\tyear\na.txt\t70\n")
    assert_rejected(InputError, "m.tsv line 2: 'a.txt' is the name of 2 files; write their direct",
                    metadata="m.tsv", time_field="year")  # fmt: skip
    Path("m.tsv").write_text("file\tyear\n1970/a.txt\t70\na.txt\t80\n")
    assert_rejected(InputError, "a second row for texts/1970/a.txt, after line 2; remove",
                    metadata="m.tsv", time_field="year")  # fmt: skip


def test_files_without_a_row_and_rows_without_a_file_are_reported(
    folder: Path, capsys: pytest.CaptureFixture[str]
):
    Path("m.csv").write_text("file,year\n1970-speech.txt,1970\nother.txt,1\nmore.txt,2\n")
    command = ["build-dtm", "texts", "--metadata", "m.csv", "--time-field", "year"]
    assert main([*command, "--min-count", "1"]) == 0
    said = capsys.readouterr().err
    assert "m.csv: 2 files have no row; the first: texts/1980-speech.txt\n" in said
    assert "m.csv: 2 rows name no file that is read; the first: 'other.txt' in line 3\n" in said
    assert "6 documents have no readable time (6 missing)" in said
    assert main(["build-dtm", "texts", "--metadata", "no.csv", "--time-field", "year"]) == 1
    assert "no.csv: no such file; check --metadata\n" in capsys.readouterr().err
    assert main(["build-cooc", *command[1:]]) == 2
    assert "--time-from-name and --metadata apply to build-dtm" in capsys.readouterr().err


def test_names_match_in_either_unicode_form(folder: Path):
    composed = unicodedata.normalize("NFC", "caf\u00e9.txt")
    Path("texts", composed).write_text(TEXT)
    Path("m.tsv").write_text(f"file\ty\n{unicodedata.normalize('NFD', composed)}\t7\n")
    made = labels(metadata="m.tsv", time_field="y", document="file")
    assert [d[3] for d in made] == ["", "", "7", ""]


@pytest.mark.parametrize(
    ("table", "parts"),
    [
        (
            "name\tyear\n",
            ["m.tsv: has no column of file names, found name, year; name the column file, "],
        ),
        ("", ["m.tsv: has no column of file names"]),
        ("file\ty\n", ["m.tsv line 1: has no column 'year', found file, y"]),
        ("file\tyear\n1970-speech.txt\n", ["m.tsv line 2: needs 2 columns, found 1"]),
        ("file\tyear\n\t1970\n", ["m.tsv line 2: names no file"]),
        (
            "file\tyear\na.txt\t1\n./a.txt\t2\n",
            ["m.tsv line 3: a second row for ./a.txt, after line 2; remove one of the two"],
        ),
        ("file\tyear\na\t1\n", ["names none of the files, found 'a' in the table", "1970-speech"]),
        ("file\tyear\n", ["m.tsv: names none of the files, found no rows"]),
    ],
)
def test_malformed_tables_are_rejected(folder: Path, table: str, parts: list[str]):
    Path("m.tsv").write_text(table)
    assert_rejected(InputError, *parts, metadata="m.tsv", time_field="year")


@pytest.mark.parametrize(
    ("options", "kind", "parts"),
    [
        ({"time_from_name": r"\d{4}"}, OptionError, ["needs one group, found 0 groups; put the"]),
        ({"time_from_name": r"(\d)(\d)"}, OptionError, ["needs one group, found 2 groups"]),
        (
            {"time_from_name": r"(\d"},
            OptionError,
            ["--time-from-name is not a regular expression: (\\d; "],
        ),
        ({"metadata": "m.tsv"}, OptionError, ["--metadata needs --id-field or --time-field"]),
        (
            {"metadata": "m.tsv", "time_field": "y", "time_from_name": "(.)"},
            OptionError,
            ["the time has two sources, --time-from-name and --time-field"],
        ),
        ({"metadata": "no.tsv", "time_field": "y"}, WordgeomError, ["no.tsv: no such file"]),
        ({"metadata": "m.xlsx", "time_field": "y"}, InputError, [".tsv or .csv file, found m.x"]),
        (
            {"metadata": "m.tsv", "time_field": "y", "input_format": "jsonl"},
            OptionError,
            ["--metadata applies to text, not to jsonl"],
        ),
        ({"time_field": "y"}, OptionError, ["--time-field applies to"]),
    ],
)
def test_contradictory_options_are_rejected(
    folder: Path, options: dict[str, str], kind: type[WordgeomError], parts: list[str]
):
    for name in ("m.tsv", "m.xlsx"):
        Path(name).write_text("file\ty\n1970-speech.txt\t1\n")
    assert_rejected(kind, *parts, **options)


def test_standard_input_has_no_time_in_its_name(folder: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    with pytest.raises(InputError) as caught:
        build_documents([Path("-")], Path("dtm"), time_from_name=r"(\d{4})")
    assert_one_line(caught, "-: its name does not match")
