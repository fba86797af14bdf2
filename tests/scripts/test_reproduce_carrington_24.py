"""scripts/reproduce/carrington-2-4: the larger simulation, and errors in one line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import wordgeom

sys.path.insert(0, str(Path(wordgeom.__file__).parent.parent / "scripts" / "reproduce"))

pytest.importorskip("matplotlib")
pytest.importorskip("gensim")

import carrington_24
import carrington_24_large as large
from carrington_24_mds import Trial
from carrington_24_spaces import judges


def test_the_larger_simulation_prints_every_rate_and_draws_three_figures(
    tmp_path, capsys, monkeypatch
):
    for name, value in (("_RATES", (1.0, 1e6)), ("_STARTS", 2), ("_EPOCHS", 12), ("_STEPS", 5)):
        monkeypatch.setattr(large, name, value)
    with judges([], 1) as (held, missing):
        large.simulation(200, held, tmp_path)
        assert sorted(held.only("SimLex-999").sets) == ["SimLex-999"]
    assert "MTurk-771" in missing
    shown = capsys.readouterr().out
    assert "p = 200, r = 2, 10 pairs, case 2, 2 starts" in shown
    rows = [line for line in shown.splitlines() if line.startswith("| SGD")]
    assert [row.count("(") for row in rows] == [5, 5]
    assert "inf" in rows[1]  # a rate that diverges is printed, and not drawn
    assert shown.count("* Figure 4.") == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "figure-4.5.png", "figure-4.6.png", "figure-4.7.png",
    ]  # fmt: skip


def test_criteria_compare_the_ends_of_the_grid(capsys):
    rates, decays = large._RATES, large.DECAYS
    found = {(rate, decay): [Trial([9.0, 5.0 + decay], 0.0, 3.0 - rate - decay)]
             for rate in rates for decay in decays}  # fmt: skip
    large._criteria(found, [Trial([9.0, 4.0], 0.0, 100.0)])
    lines = capsys.readouterr().out.split("\n* ")[1:]
    assert all("**met**" in line for line in lines), lines
    assert "4 against 5" not in lines[3]
    large._criteria(found, [Trial([9.0, 6.0], 0.0, 0.1)])
    lines = capsys.readouterr().out.split("\n* ")[1:]
    assert ["**not met**" in line for line in lines] == [False, False, False, True, True]


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["nowhere"], "error: nowhere: no such"),
        (["nowhere", "--largest", "none.bin"], "error: nowhere: no such"),
    ],
)
def test_missing_data_are_an_error_of_one_line(tmp_path, arguments, line, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["carrington-2-4", *arguments])
    with pytest.raises(SystemExit) as caught:
        carrington_24.main()
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)
