"""scripts/reproduce/carrington-5: its settings, simulations and tables."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

import wordgeom

sys.path.insert(0, str(Path(wordgeom.__file__).parent.parent / "scripts" / "reproduce"))

import carrington_5
import carrington_5_cells as cells
import carrington_5_eigenvalues
import carrington_5_runs as runs
import carrington_5_tables as tables


def test_critical_values_are_those_that_the_thesis_prints():
    """Figure 5.13 names two: 180.7 and 160.9."""
    found = [tables.critical(cell) for cell in cells.FIGURES["5.13"].cells[:2]]
    assert [round(value, 1) for value in found] == [180.7, 160.9]


@pytest.mark.parametrize("name", cells.FIGURES)
def test_every_cell_leaves_something_to_test(name):
    for cell in cells.FIGURES[name].cells:
        assert cell.p < cell.n
        assert tables.degrees_of_freedom(cell.p, cell.fitted) > 0


@pytest.mark.parametrize(
    ("figure", "place", "mean", "variance"),
    [
        ("5.5", 3, 0.0, 0.04),
        ("5.7", 0, 0.0, 0.01),
        ("5.7", 1, 0.05, 0.01 / 12),
        ("5.7", 2, 0.1, 0.01),
    ],
)
def test_changes_follow_their_distribution(figure, place, mean, variance):
    cell = cells.FIGURES[figure].cells[place]
    rng = np.random.default_rng(1)
    drawn = np.concatenate([cells.changes(cell, rng).ravel() for _ in range(300)])
    assert drawn.mean() == pytest.approx(mean, abs=0.005)
    assert drawn.var() == pytest.approx(variance, rel=0.05)


def test_only_moving_words_change():
    for cell in cells.FIGURES["5.8"].cells:
        B1 = cells.changes(cell, np.random.default_rng(1))
        assert np.flatnonzero(B1.any(axis=0)).tolist() == list(range(cell.moving or 0))


def test_simulations_have_the_rank_of_the_model():
    """X − Z has rank r where nothing changes and 2r where all words do."""
    rng = np.random.default_rng(1)
    still, times = cells.simulate(cells.FIGURES["5.3"].cells[2], 0.0, rng)
    moving, _ = cells.simulate(cells.FIGURES["5.6"].cells[0], 0.0, rng)
    assert (np.linalg.matrix_rank(still), np.linalg.matrix_rank(moving)) == (5, 10)
    assert (times[0], times[-1], len(times)) == (-1.0, 1.0, 100)


def test_noise_has_the_given_variance():
    cell = cells.Cell("", 2000, 20, 4, 4)
    X, _ = cells.simulate(cell, 0.1, np.random.default_rng(2))
    assert np.linalg.eigvalsh(np.cov(X.T))[:16].mean() == pytest.approx(0.1, rel=0.05)


def test_runs_do_not_depend_on_blocks():
    plan = runs.Plan(runs=4, permuted=1, shuffles=19, seed=3)
    whole = runs.outcomes(runs.Job(plan, "5.3", 1, 2, 0, 4))
    parts = [runs.outcomes(runs.Job(plan, "5.3", 1, 2, k, k + 1)) for k in range(4)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))
    assert np.isfinite(whole[0]).all()
    assert np.isnan(runs.field(whole, "permutation"))[1:].all()
    assert len(np.unique(runs.field(whole, "statistic"))) == 4


def test_rates_ignore_runs_without_a_test():
    p = np.array([[0.05, 0.051, 0.01, np.nan], [np.nan] * 4])
    share, none = tables.rejected(p)
    assert share == pytest.approx(2 / 3)
    assert np.isnan(none)


def test_moving_dimensions_look_like_twice_as_many_static_ones(monkeypatch):
    """Proposition 5: with times of variance 1, in the mean of covariances."""
    monkeypatch.setattr(carrington_5_eigenvalues, "N", 400)
    plan = runs.Plan(runs=6, permuted=0, shuffles=1, seed=1)
    found = carrington_5_eigenvalues._eigenvalues(runs.Job(plan, "5.15", 0, 2, 0, 6))
    logs = np.log(found[..., :-1]).mean(axis=0)
    assert np.abs(logs[2] - logs[1]).max() < 0.25
    assert np.abs(logs[3] - logs[1]).max() > 0.5


def test_tables_and_plots_are_written(tmp_path, capsys, monkeypatch):
    asked = ["--figures", "5.3,5.5", "--runs", "3", "--permuted", "1", "--shuffles", "19"]
    monkeypatch.setattr(
        sys, "argv", ["carrington-5", *asked, "--processes", "1", "--out", str(tmp_path)]
    )
    carrington_5.main()
    shown = capsys.readouterr().out
    rows = [line for line in shown.splitlines() if line.startswith("| n = 100 | 100 | 124.3 |")]
    assert len(rows) == 1
    assert rows[0].count(" · ") == 10
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "figure-5.3.png", "figure-5.5.png", "power.png",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--figures", "5.9"], "error: unknown figure, found '5.9'; choose from 5.3, 5.4"),
        (["--runs", "0"], "error: --runs must be at least 1, found 0"),
    ],
)
def test_invalid_arguments_are_one_line_errors(arguments, line, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["carrington-5", *arguments])
    with pytest.raises(SystemExit) as caught:
        carrington_5.main()
    assert str(caught.value).startswith(line)
