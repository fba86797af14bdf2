"""`drift --bin`: times joined into years, decades or bins of another width."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from drifting import documents, verdict_of

import wordgeom as wg
from wordgeom.cli import main
from wordgeom.core.errors import InputError, OptionError
from wordgeom.drift.time_axis import bin_times

FEW: dict[str, Any] = {"permutations": 19}


def debates(folder: Path, dates: list[str]) -> Path:
    """A model of 240 documents, the dates in turn; `cell` moves from jails to phones."""
    rng = np.random.default_rng(3)
    lines = []
    for k in range(240):
        topic = ("jail guard lock", "call signal network")[k % 2]
        words = rng.choice([*topic.split(), "and", "the"], 20).tolist()
        words += ["cell"] * int((k / 240 > rng.random()) == k % 2)
        lines.append(json.dumps({"t": dates[k * len(dates) // 240], "text": " ".join(words)}))
    (folder / "d.jsonl").write_text("\n".join(lines))
    dtm = folder / "dtm"
    wg.count_documents(folder / "d.jsonl", out=dtm, time_field="t", min_count=1, quiet=True)
    wg.train_model(dtm, folder / "model", dim=2, degree=1, quiet=True)
    return folder / "model"


DAYS = [f"{1950 + k // 6}-{1 + 2 * (k % 6):02}-1{k % 9}" for k in range(72)]


@pytest.fixture(scope="module")
def daily(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return debates(tmp_path_factory.mktemp("daily"), DAYS)


def test_days_in_years_are_the_years(daily, tmp_path):
    """A bin is its start, so dates of one year give F and p of the year alone."""
    yearly = debates(tmp_path, [day[:4] for day in DAYS])
    binned, plain = (
        wg.measure_drift(daily, bin="year", **FEW), wg.measure_drift(yearly, **FEW)
    )  # fmt: skip
    wanted = {word.change.word: word.change for word in plain.words}
    for word in binned.words:
        assert word.change.f == pytest.approx(wanted[word.change.word].f, rel=1e-6)
        assert word.change.p == pytest.approx(wanted[word.change.word].p, abs=1e-9)
    assert "tested with 72 times in 12 bins of width 1" in binned.notes
    again = wg.measure_drift(yearly, bin="1", **FEW)
    assert str(again).startswith(str(plain).partition("\n\n")[0])


def test_a_decade_is_ten_years(daily):
    found = wg.measure_drift(daily, bin="decade", **FEW)
    assert "tested with 72 times in 2 bins of width 10" in found.notes
    ten = wg.measure_drift(daily, bin="10", **FEW)
    assert str(ten).splitlines()[1:] == str(found).splitlines()[1:]


@pytest.mark.parametrize(
    ("times", "width", "starts"),
    [
        ([1949.999, 1950, 1959.99, 1960], 10, [1940, 1950, 1950, 1960]),
        ([-0.5, 0, 0.5, -44], 1, [-1, 0, 0, -44]),
        ([0.3, 0.6, 0.7, 0.69], 0.1, [0.3, 0.6, 0.7, 0.6]),
        ([1.0, 1e6], 0.25, [1, 1e6]),
    ],
)
def test_bins_begin_at_multiples_of_the_width(times, width, starts):
    assert bin_times(np.array(times), width) == pytest.approx(starts)


def test_f_depends_on_the_bins_and_not_on_their_labels():
    rng = np.random.default_rng(1)
    times = rng.uniform(1950, 1990, 200)
    X = documents(rng, 200, 12, 2, t=(times - 1970) / 10, change=0.4)
    starts = bin_times(times, 10.0)
    found = [verdict_of(X, t, 2, permutations=23).F for t in (starts, starts + 5.0)]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)


@pytest.mark.parametrize("width", ["month", "0", "-1", "nan", "inf", "1950-07"])
def test_what_is_no_width_is_one_line(daily, width):
    with pytest.raises(OptionError) as caught:
        wg.measure_drift(daily, bin=width)
    assert_one_line(caught, "must be year, decade or a positive number", repr(width))


@pytest.mark.parametrize(
    ("width", "part"),
    [
        ("100", "bin=100 joins all times, 1950.02 to 1961.88"),
        ("1e-320", "bin=9.99989e-321 is too narrow"),
    ],
)
def test_bins_that_cannot_be_tested_are_one_line(daily, width, part):
    with pytest.raises(InputError) as caught:
        wg.measure_drift(daily, bin=width)
    assert_one_line(caught, part)


def test_many_times_are_announced_before_the_test(tmp_path, capsys):
    days = [f"{1950 + k // 24}-{1 + k // 2 % 12:02}-{1 + 10 * (k % 2):02}" for k in range(240)]
    model = debates(tmp_path, days)
    asked = ["drift", str(model), "cell", "--test", "permutation", "--permutations", "9"]
    assert main(asked) == 0
    assert capsys.readouterr().err.startswith(
        "wordgeom: note: 240 distinct times take long to test; --bin 1 leaves 10\n"
    )
    assert main([*asked, "--bin", "year"]) == 0
    assert "take long" not in capsys.readouterr().err
