"""Diagnostics of what depends on time besides meaning, against closed forms, and their warning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.drift.diagnostics import Diagnostics, diagnose

YEARS = np.repeat(np.arange(1950.0, 1960.0), 4)
UNITS = np.arange(40)
FLAT = np.full(40, 30.0)


def found(lengths=FLAT, profile=None, times=YEARS, units=UNITS):
    """The diagnostics of documents whose two topics follow a profile (T) over time."""
    rng = np.random.default_rng(1)
    codes = np.unique(times, return_inverse=True)[1]
    values = rng.normal(size=codes.max() + 1) if profile is None else np.asarray(profile)
    topics = values[codes][:, None] * [1.0, -2.0] + [3.0, 4.0]
    return diagnose(
        times, lengths, topics + np.resize([1.0, -1.0, 5.0, -5.0], (len(times), 1)), units
    )


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_lengths_that_grow_at_a_constant_rate_have_correlation_1(sign):
    assert found(np.exp(sign * YEARS / 10 - 190 * sign)).length_correlation == pytest.approx(sign)


def test_the_correlation_is_that_of_log_lengths():
    lengths = np.random.default_rng(2).integers(10, 900, 40).astype(float)
    expected = np.corrcoef(YEARS, np.log(lengths))[0, 1]
    assert found(lengths).length_correlation == pytest.approx(expected)


def test_passages_count_as_their_document():
    """Documents of 1, 2, 3 … passages of 30 tokens, each of its year."""
    units = np.repeat(np.arange(10), np.arange(1, 11))
    times = 1950.0 + units
    expected = np.corrcoef(np.arange(10), np.log(np.arange(1, 11)))[0, 1]
    lengths = np.full(len(units), 30.0)
    assert found(lengths, times=times, units=units).length_correlation == pytest.approx(expected)


def test_constant_lengths_and_two_times_are_undefined():
    assert np.isnan(found().length_correlation)
    assert "log length undefined" in str(found())
    two = found(times=np.repeat([1.0, 2.0], 20))
    assert np.isnan([two.autocorrelation, two.trend]).all()
    assert np.isnan(found(profile=np.ones(10)).trend)
    assert Diagnostics(np.nan, np.nan, np.nan).warning() is None


def test_a_linear_trend_explains_all_and_alternation_nothing():
    line = np.arange(10.0)
    assert found(profile=line).trend == pytest.approx(1.0)
    centred = line - 4.5
    lagged = (centred[1:] * centred[:-1]).sum() / (centred**2).sum()
    assert found(profile=line).autocorrelation == pytest.approx(lagged)
    assert found(profile=(-1.0) ** line).autocorrelation == pytest.approx(-0.9)  # 9 of 10 pairs
    assert found(profile=(line - 4.5) ** 2).trend == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize(
    ("figures", "parts"),
    [
        ((0.05, 0.05, 0.1), []),
        ((-0.56, 0.0, 0.0), ["the lengths of documents depend on time"]),
        ((0.0, 0.5, 0.0), ["the frequencies of topics depend on time"]),
        ((0.0, np.nan, 0.4), ["the frequencies of topics depend on time"]),
        ((0.3, 0.5, 0.1), ["the lengths of documents and the frequencies of topics depend"]),
    ],
)
def test_warnings_name_what_depends_on_time(figures, parts):
    warning = Diagnostics(*figures).warning() or ""
    assert bool(warning) == bool(parts)
    for part in parts:
        assert warning.startswith(part)
        assert warning.endswith("permutations reject too often; use --test flips")


def test_permutations_of_growing_documents_are_warned_of(tmp_path):
    rng = np.random.default_rng(3)
    subjects = ["peace war treaty", "oil trade debt", "climate carbon emissions"]
    records = [
        {"year": 1950 + k // 10, "text": " ".join(rng.choice(
            [*subjects[k % 3].split(), "nations", "the"], 20 + k
        ))}
        for k in range(120)
    ]  # fmt: skip
    counts = wg.count_documents(records, time_field="year", min_count=1, out=tmp_path / "dtm")
    wg.train_model(counts, tmp_path / "model", degree=1, dim=2, quiet=True)
    warning = "the lengths of documents depend on time: permutations reject too often; "
    for test, warned in (("permutation", True), ("f", True), ("flips", False)):
        more: dict[str, Any] = {} if test == "f" else {"permutations": 19}
        report = wg.measure_drift(tmp_path / "model", test=test, quiet=True, **more)
        assert any(note.startswith(warning) for note in report.notes) == warned
        assert "over time: correlation of time and log length 0.9" in str(report)
