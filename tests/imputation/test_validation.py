"""Validation: ranks match brute force, and every anchor is hidden exactly once."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import rankdata

from wordgeom.core.errors import OptionError
from wordgeom.core.types import Float64, Int64
from wordgeom.imputation import baselines, validation
from wordgeom.imputation.report import validation_lines
from wordgeom.imputation.validation import cosines_and_ranks


def anchors(p: int = 60, columns: int = 6) -> Float64:
    return np.random.default_rng(1).standard_normal((p, columns))


def test_ranks_match_sorted_cosines(using):
    true, draw = anchors(), np.random.default_rng(2)
    true[7] = 3 * true[8]  # equal cosines
    hidden = np.array([3, 7, 8, 50])
    predicted = draw.standard_normal((4, 6))
    found = cosines_and_ranks(predicted, true, hidden, using)
    unit = true / np.linalg.norm(true, axis=1, keepdims=True)
    for k, row in enumerate(hidden):
        cosines = unit @ predicted[k] / np.linalg.norm(predicted[k])
        assert found[k, 0] == pytest.approx(cosines[row])
        assert found[k, 1] == rankdata(-cosines.round(12))[row]


def test_a_prediction_without_direction_has_the_middle_rank(using):
    found = cosines_and_ranks(np.zeros((60, 6)), anchors(), np.arange(60), using)
    assert (found == [0.0, 30.5]).all()


@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_the_scale_of_a_prediction_does_not_matter(using, scale):
    found = cosines_and_ranks(anchors() * scale, anchors(), np.arange(60), using)
    assert found == pytest.approx(np.ones((60, 2)))


def test_each_anchor_is_hidden_exactly_once(using):
    true, seen = anchors(), []

    def predict(hidden: Int64, visible: Int64) -> Float64:
        assert not set(hidden) & set(visible)
        assert len(hidden) + len(visible) == len(true)
        seen.extend(hidden.tolist())
        return true[hidden]

    found = validation.validate(
        {"truth": predict, "mean": baselines.mean_vector(true)}, true, 7, using
    )
    assert sorted(seen) == list(range(60))
    assert [score.value for score in found.scores["truth"]] == pytest.approx([1, 1, 1, 1])
    # Differences are imputation − baseline, with paired intervals.
    gain, *_ = found.differences["mean"]
    assert gain.value == pytest.approx(1 - found.scores["mean"][0].value)
    assert gain.low <= gain.value <= gain.high
    assert found.to_dict()["scores"]["truth"][0]["measure"] == "mean cosine"
    assert len(validation_lines(found)) == 1 + 2 * len(validation.MEASURES) + 3


def test_zero_vectors_are_never_hidden(using):
    true = anchors()
    true[:5] = 0
    hidden_ever: list[int] = []

    def predict(hidden: Int64, visible: Int64) -> Float64:
        hidden_ever.extend(hidden.tolist())
        return true[hidden]

    found = validation.validate({"truth": predict}, true, 5, using)
    assert sorted(hidden_ever) == list(range(5, 60))
    assert found.notes == (
        "5 known vectors are 0 and never hidden",
        "unknown entities are usually rarer than known ones: expect lower scores for them",
    )


def test_the_number_of_hidden_vectors_is_bounded(using, monkeypatch):
    monkeypatch.setattr(validation, "MAX_HIDDEN", 20)
    true = anchors()
    found = validation.validate({"mean": baselines.mean_vector(true)}, true, 5, using)
    assert found.scores["mean"][0].used == 20
    assert "20 of 60" in found.notes[0]


def test_more_folds_than_anchors_are_rejected(using):
    true = anchors(4)
    with pytest.raises(OptionError, match=r"--validate 5 .* found 4; use fewer folds"):
        validation.validate({"mean": baselines.mean_vector(true)}, true, 5, using)


def test_mean_and_nearest_anchor_match_brute_force(using):
    draw = np.random.default_rng(3)
    points, true = draw.standard_normal((80, 4)), anchors()
    entities = np.sort(draw.choice(80, 60, replace=False))
    hidden, visible = np.arange(0, 60, 6), np.setdiff1d(np.arange(60), np.arange(0, 60, 6))
    mean = baselines.mean_vector(true)(hidden, visible)
    assert mean == pytest.approx(np.tile(true[visible].mean(axis=0), (10, 1)))
    near = baselines.nearest_anchor(points, entities, true, using.pool)(hidden, visible)
    apart = points[entities[hidden]][:, None] - points[entities[visible]][None]
    closest = np.linalg.norm(apart, axis=2).argmin(axis=1)
    assert (near == true[visible[closest]]).all()


def test_ridge_learns_a_linear_map(using):
    draw = np.random.default_rng(4)
    points = draw.standard_normal((60, 4)) * [1, 10, 100, 1000] + 5
    true = points @ draw.standard_normal((4, 6)) + 3
    hidden, visible = np.arange(10), np.arange(10, 60)
    predicted = baselines.ridge(points, np.arange(60), true, 1)(hidden, visible)
    assert predicted == pytest.approx(true[:10], rel=0.01, abs=0.5)


@pytest.mark.parametrize(("n", "d"), [(10**6, 50), (10**5, 10**4), (10**4, 10**5), (300, 10)])
def test_ridge_rows_bound_the_work(n, d):
    rows = baselines.ridge_rows(n, d)
    assert 2 <= rows <= n
    assert rows * d * min(rows, d) <= max(5e10, 4 * d)
    assert rows == n or (rows + 1) * d * min(rows + 1, d) > 4.9e10
