"""Times of documents: one axis for numbers, years and dates; others are reported or counted."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from corpora import assert_one_line
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.cli import main
from wordgeom.core.errors import InputError
from wordgeom.matrices.document_term import Document
from wordgeom.matrices.times import parse_time, parse_times
from wordgeom.stages.artefacts import artefact_at

moments = st.datetimes(datetime(1, 1, 2), datetime(9999, 12, 30))


def value(text: str) -> float:
    """The value of a time that is one."""
    read = parse_time(text)
    assert read is not None
    return read.value


def documents(*times: str, ids: bool = True) -> list[Document]:
    return [Document(1, 2 * k, f"d{k}" if ids else "", t) for k, t in enumerate(times, 1)]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_is_its_own_value(x: float):
    for text in (repr(x), f" {x!r} "):
        assert value(text) == x
    assert value(repr(x).replace("-", "\N{MINUS SIGN}")) == x


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("1950", 1950.0), ("-44", -44.0), ("+7.", 7.0), (".5", 0.5), ("1950.25", 1950.25),
        ("1e3", 1000.0), ("1950-01", 1950.0), ("1950-07", 1950 + 181 / 365),
        ("1952-03", 1952 + 60 / 366), ("1900-03-01", 1900 + 59 / 365),
        ("2000-02-29", 2000 + 59 / 366), ("0000-12-31", 365 / 366), ("-0044-03-15", -44 + 74 / 366),
        ("1950-07-02T12:00", 1950.5), ("1950-07-02 12:00:00,0Z", 1950.5),
        ("1950-07-02T14:30:00+02:30", 1950.5), ("1950-07-02 04:00 -0800", 1950.5),
        ("2016-12-31T23:59:60Z", 2017.0), ("12345-01", 12345.0),
    ],
)  # fmt: skip
def test_times_agree_with_the_calendar(text: str, wanted: float):
    assert value(text) == pytest.approx(wanted, abs=1e-11)


@given(moments, moments)
def test_dates_are_in_order(a: datetime, b: datetime):
    first, second = sorted((a, b))
    low, high = value(first.isoformat()), value(second.isoformat(sep=" "))
    assert low <= high
    if second - first > timedelta(seconds=1):
        assert low < high
    whole = value(first.date().isoformat())
    assert value(first.isoformat()[:7]) <= whole <= low < first.year + 1
    assert math.floor(whole) == first.year == value(f"{first.year:04}")


@given(moments, st.timedeltas(timedelta(hours=-23), timedelta(hours=23)))
def test_a_zone_is_subtracted(moment: datetime, away: timedelta):
    zone = timezone(timedelta(minutes=away // timedelta(minutes=1)))
    there = moment.replace(tzinfo=UTC, microsecond=0)
    here = there.astimezone(zone)
    assert abs(value(here.isoformat()) - value(there.isoformat())) < 1e-4  # leap years are longer
    if here.year == there.year:
        assert value(here.isoformat()) == pytest.approx(value(there.isoformat()), abs=1e-11)


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "soon", "nan", "inf", "1e999", "0x10", "1_000", "1,950", "١٩٥٠", "1950-13",
        "1950-00", "1950-02-29", "1950-7", "50-07-01", "1950/07/31", "31.07.1950",
        "1950-07-31T24:00", "1950-07-31T12", "1950-07-31T12:60", "1950-07-31T12:00:61",
        "1950-07-31T12:00+24:00",
        "1950-W07", "1950-1960", "19500731", "c. 1950", "1950-07-31T12:00ZZ",
    ],
)  # fmt: skip
def test_an_invalid_time_is_none(text: str):
    assert parse_time(text) is None


@given(st.text(st.sampled_from("0123456789-+.:TZe "), max_size=24))
def test_any_text_is_a_finite_time_or_none(text: str):
    read = parse_time(text)
    assert read is None or math.isfinite(read.value)


def test_times_are_in_the_order_of_documents():
    times = parse_times(documents("1950", "1949-07", "1950.5"))
    assert times.values.tolist() == [1950.0, 1949 + 181 / 365, 1950.5]
    assert (len(times.missing), len(times.unparsed), times.unread) == (0, 0, "")


def test_documents_without_a_time_are_counted_or_an_error():
    times = parse_times(documents("1950", "", "soon", " ", "1952"), ["a.jsonl"])
    assert (times.missing.tolist(), times.unparsed.tolist()) == ([1, 3], [2])
    assert times.known.tolist() == [0, 4]
    assert np.isnan(times.values[[1, 2, 3]]).all()
    assert times.unread == "3 documents have no readable time (2 missing, 1 of unknown format)"
    problem = "a.jsonl line 4: the document 'd2' has no time; correct the record"
    assert str(times.problem) == problem


def test_a_time_of_unknown_format_is_located():
    times = parse_times(documents("1950", "July", ids=False))
    problem = "file 1 line 4: the document has a time of unknown format, 'July'; use"
    assert str(times.problem).startswith(problem)


def test_documents_without_any_time_are_an_error():
    for none in ([], documents("", "")):
        with pytest.raises(InputError) as caught:
            parse_times(none, ["a.txt"])
        assert_one_line(caught, "no document has a time", "build-dtm --time-field")


def test_numbers_that_are_not_years_do_not_mix_with_dates():
    assert parse_times(documents("3", "12.5", "1950")).values.tolist() == [3.0, 12.5, 1950.0]
    with pytest.raises(InputError) as caught:
        parse_times(documents("1950", "1950-07", "12"), ["a.tsv"])
    assert_one_line(
        caught, "a.tsv line 6: the document 'd3' has the time '12', but others '",
        "'1950-07' in a.tsv line 4; use years",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("times", "told", "info"),
    [
        (["1950", "1951-07"], "", "1950 to 1951.5, 2 distinct"),
        (
            ["1950", "ARG"],
            "1 document has no readable time",
            "1 that cannot be read",
        ),
        (
            ["x", "y"],
            "2 documents have no readable time",
            "none that can be read",
        ),
        (["19", "1950-07"], "no method can use these times: ", "but others "),
        (["", ""], "no document has a time, which dlsa needs; check --time-field\n", "none"),
    ],
)
def test_times_are_checked_when_documents_are_counted(tmp_path, capsys, times, told, info):
    path = tmp_path / "t.tsv"
    path.write_text("".join(f"{time}\ta b a\n" for time in times))
    fields = ["--time-field", "1", "--text-field", "2", "--min-count", "1"]
    assert main(["build-dtm", str(path), "-o", str(tmp_path / "dtm"), *fields]) == 0
    notes = capsys.readouterr().err
    assert told in notes if told else "time" not in notes
    assert info in artefact_at(tmp_path / "dtm").describe(check=False)["times"]
