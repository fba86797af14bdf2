"""The header of a table with numbered columns is no document, and a first record is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from corpora import assert_one_line
from running import build_dtm

from wordgeom.core.errors import OptionError
from wordgeom.corpus.inputs import readers
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats, tsv_header
from wordgeom.matrices.count_request import made_options
from wordgeom.runtime.run_options import RunOptions

SPEECHES = (
    "1946\t1\tARG\tAt the outset I wish to thank\n1946\t1\tAUS\tThe meeting of this assembly\n"
)
REVIEWS = "5\tThis camera is a joy to use every day\n1\tBroke after two weeks of light use\n"


def documents(path: Path, **options: Any) -> tuple[list[str], Source]:
    source = Source(str(path), listed=True)
    given = formats.resolve([str(path)], CorpusOptions(**options))
    text = b"".join(block.text for block in formats.blocks(source, b" \n", given)).decode()
    return [line for line in text.replace("\r", "").split("\n") if line], source


def table(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "t.tsv"
    path.write_bytes(content.encode())
    return path


@pytest.mark.parametrize(
    ("header", "rows", "options"),
    [
        ("year\tsession\tcountry\tspeech", SPEECHES, {"text_field": "4"}),
        ("Year\tSession\tCountry\tSpeech", SPEECHES, {"text_field": "4", "time_field": "1"}),
        ("Jahr\tSitzung\tLand\tRede", SPEECHES, {"text_field": "4", "id_field": "3"}),
        ("rating\treview", REVIEWS, {"text_field": "2"}),
        ("star_rating\treview_headline", REVIEWS, {"text_field": "2"}),
        ('"label"\t"text"', REVIEWS, {"text_field": "2"}),
        ("text", "Ein guter Satz steht hier\nNoch ein Satz\n", {"text_field": "1"}),
        ("id\ttext", "", {"text_field": "2"}),
        ("발행일\t본문", "2020-01-02\t한국어 텍스트\n2021-03-04\t다른 글\n", {"text_field": "2"}),
        (
            "sentence\tlabel",
            "a stirring film\tpos\nhide new secretions\tneg\n",
            {"text_field": "1"},
        ),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff", "\n"])
def test_a_header_is_skipped_with_a_note(
    tmp_path: Path, header: str, rows: str, options: dict[str, str], end: str, start: str
):
    path = table(tmp_path, start + (header + "\n" + rows).replace("\n", end))
    expected = [row.split("\t")[int(options["text_field"]) - 1] for row in rows.splitlines()]
    for block in (1, 20, 1 << 20):
        with patch.object(readers, "BLOCK", block):
            made, source = documents(path, **options)
        assert made == expected
        assert len(list(source.documents)) == len(expected)
        assert source.header["found"] == tsv_header.HEADER
    every, _ = documents(path, **options, header="no")
    assert len(every) == len(expected) + 1


@pytest.mark.parametrize(
    ("rows", "options"),
    [
        (SPEECHES, {"text_field": "4"}),
        (SPEECHES, {"text_field": "4", "time_field": "1", "id_field": "3"}),
        (REVIEWS, {"text_field": "2"}),
        ("pos\ta stirring film\nneg\thide new secretions\n", {"text_field": "2"}),
        ("unknown\tHello world\n1990\tSome text\n1991\tMore text\n", {"text_field": "2"}),
        ("\tHello world\n1990\tSome text\n1991\tMore text\n", {"text_field": "2"}),
        ("a\tThe text of this row is long\n1\tshort\n2\tshort\n", {"text_field": "2"}),
        ("the\t1172302\nof\t598762\nand\t471284\n", {"text_field": "1"}),
        ("great\tgood\nbad\tgood\n", {"text_field": "1"}),
        ("text\n", {"text_field": "1"}),
        ("good\tfilm\n", {"text_field": "2"}),
    ],
)
def test_a_first_record_is_a_document(tmp_path: Path, rows: str, options: dict[str, str]):
    made, source = documents(table(tmp_path, rows), **options)
    assert made == [row.split("\t")[int(options["text_field"]) - 1] for row in rows.splitlines()]
    assert source.header == {}
    skipped, _ = documents(table(tmp_path, rows), **options, header="yes")
    assert skipped == made[1:]


def test_a_record_that_may_be_a_header_is_read_with_a_note(tmp_path: Path):
    rows = "who\tsaid\nann\tI think that this is so\nbob\tNo I do not think so\n"
    made, source = documents(table(tmp_path, rows), text_field="2")
    assert made[0] == "said"
    assert source.header == {"found": tsv_header.UNSURE, "cells": "who, said"}


def test_the_notes_say_what_was_done(tmp_path: Path):
    path = table(tmp_path, "year\ttext\n1990\ta b\n1991\tb a\n")
    corpus = CorpusOptions(text_field="2", min_count=1)
    done = build_dtm([path], tmp_path / "dtm", corpus, RunOptions())
    what = f"{path}: its first row (year, text) is a header and was skipped; if it is a record, "
    assert f"{what}pass --header no" in done.notes
    assert done.store.attributes["documents"] == 2


def test_columns_by_name_need_a_header(tmp_path: Path):
    with pytest.raises(OptionError) as caught:
        documents(table(tmp_path, "year\ttext\n1990\ta b\n"), text_field="text", header="no")
    assert_one_line(caught, "columns by name need a header, and --header no")


def test_counts_made_before_the_option_read_every_row():
    assert made_options({"options": {}})["header"] == "no"
