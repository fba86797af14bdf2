"""Distributions of distortions by hand, worst pairs by word, and held-out pairs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from wordgeom.core.errors import OptionError
from wordgeom.methods.mde import validation
from wordgeom.methods.mde.distortions.attractive.log1p import Log1p
from wordgeom.methods.mde.distortions.repulsive.log import Log
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.methods.mde.validation import Judged

WORDS = ["paris", "london", "roma", "αθήνα", "oslo"]
RIGHT = [1, 2, 3, 4, 2, 3]


def pairs_of(left, right, given=None):
    given = np.ones(len(left)) if given is None else given
    return Pairs(np.array(left, np.int32), np.array(right, np.int32), np.array(given, np.float32))


def judged(values, name="similar pairs"):
    """The first pairs of five words, at distances √f."""
    pairs = pairs_of([0, 0, 0, 0, 1, 1][: len(values)], RIGHT[: len(values)])
    values = np.array(values, np.float32)
    return Judged(name, pairs, np.sqrt(np.abs(values)), values)


def test_the_distribution_is_that_of_the_pairs():
    found = validation.distortions([judged([4, 1, 0, 9, 1])], WORDS)["similar pairs"]
    assert (found["pairs"], found["average"]) == (5, 3.0)
    assert [found["quantiles"][q] for q in ("min", "25%", "median", "75%", "max")] == [
        0,
        1,
        1,
        4,
        9,
    ]
    assert found["share_of_worst_percent"] == pytest.approx(9 / 15)  # one pair


def test_the_worst_pairs_are_named_with_ties_in_order():
    worst = validation.distortions([judged([4, 9, 0, 9, 1])], WORDS)["similar pairs"]["worst"]
    assert [each["words"] for each in worst[:3]] == [
        ["paris", "roma"], ["paris", "oslo"], ["paris", "london"]
    ]  # fmt: skip
    assert worst[0] == {
        "words": ["paris", "roma"],
        "given": 1.0,
        "distance": 3.0,
        "distortion": 9.0,
    }


def test_many_pairs_give_ten_of_the_largest():
    values = np.random.default_rng(1).integers(0, 50, 3000).astype(np.float32)
    pairs = pairs_of(np.zeros(3000), np.arange(1, 3001))
    term = Judged("similar pairs", pairs, values, values)
    words = [f"w{k}" for k in range(3001)]
    found = validation.distortions([term], words)["similar pairs"]["worst"]
    expected = np.argsort(-values, kind="stable")[:10] + 1
    assert [each["words"][1] for each in found] == [f"w{k}" for k in expected]


def test_distortions_that_are_not_finite_are_none_in_json():
    term = judged([np.inf, 1, 0])
    found = validation.distortions([term], WORDS)
    json.dumps(found, allow_nan=False)
    own = found["similar pairs"]
    assert own["average"] is None
    assert own["worst"][0]["distortion"] is None
    assert own["quantiles"]["median"] == 1


def test_negative_distortions_have_a_distribution():
    found = validation.distortions([judged([-1, -4, -2])], WORDS)["similar pairs"]
    assert found["quantiles"]["max"] == -1
    assert found["share_of_worst_percent"] is None
    assert found["worst"][0]["words"] == ["paris", "london"]


def test_one_line_names_the_worst_pair_of_each_term():
    empty = judged([], "pairs of a file")
    line = validation.worst_line([judged([1, 4, 1]), judged([0, 0, 25], "others"), empty], WORDS)
    assert line == (
        "largest distortion: paris roma (similar pairs, 4, median 1); "
        "paris αθήνα (others, 25, median 0)"
    )
    assert validation.worst_line([empty], WORDS) == ""
    assert validation.distortions([empty], WORDS) == {}


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
def test_pairs_are_fitted_or_held_out_and_stay_in_order(share):
    left, right = np.triu_indices(30, 1)
    pairs = pairs_of(left, right, np.arange(1, len(left) + 1))
    fitted, held = validation.hold_out(pairs, share, np.random.default_rng(1))
    assert len(held) == round(share * len(pairs))
    for part in (fitted, held):
        assert np.all(np.diff(part.given) > 0)
        assert part.left.dtype == np.int32
        assert part.given.dtype == np.float32
    assert sorted([*fitted.given, *held.given]) == list(pairs.given)
    again, _ = validation.hold_out(pairs, share, np.random.default_rng(1))
    np.testing.assert_array_equal(again.given, fitted.given)
    other, _ = validation.hold_out(pairs, share, np.random.default_rng(2))
    assert list(other.given) != list(fitted.given)


@pytest.mark.parametrize(("size", "share"), [(0, 0.5), (1, 0.5), (1, 0.6), (4, 0.01), (4, 0.99)])
def test_a_side_without_pairs_is_an_error(size, share):
    pairs = pairs_of(np.zeros(size), np.arange(1, size + 1))
    with pytest.raises(OptionError, match=r"--hold-out .*both sides"):
        validation.hold_out(pairs, share, np.random.default_rng(1))


def test_items_left_without_pairs_are_counted():
    pairs = [pairs_of([0, 0, 2], [1, 2, 3]), pairs_of([0], [5])]
    assert validation.stranded(pairs, [pairs_of([0], [2])], 7) == 3  # 1, 3 and 5; 4, 6 had none


def test_averages_are_over_the_pairs_of_all_terms():
    fitted = [judged([1, 2, 3]), judged([10], "others")]
    held = [judged([2]), judged([4, 30], "others")]
    found = validation.held_out(fitted, held)
    assert found["fitted"] == {"average": 4.0, "pairs": 4}
    assert found["held_out"] == {"average": 12.0, "pairs": 3}
    assert found["terms"]["others"] == {"fitted": 10.0, "held_out": 17.0}
    assert validation.held_out_line(fitted, held) == (
        "average distortion 4; of 3 pairs held out 12"
    )
    assert np.isnan(validation.average([]))


def test_pairs_are_judged_in_float64(monkeypatch):
    monkeypatch.setattr(validation, "_BLOCK", 3)
    vectors = np.random.default_rng(1).standard_normal((5, 4)).astype(np.float32)
    pairs = pairs_of([0, 0, 0, 0, 1, 1], RIGHT, [1, 2, 3, 4, 5, 6])
    found = validation.judged("similar pairs", pairs, Log1p(), vectors)
    wide = vectors.astype(np.float64)
    expected = np.array([np.linalg.norm(wide[i] - wide[j]) for i, j in zip(
        pairs.left, pairs.right, strict=True)])  # fmt: skip
    np.testing.assert_allclose(found.distances, expected, rtol=1e-14)
    np.testing.assert_allclose(found.distortions, pairs.given * np.log1p(expected**1.5), rtol=1e-12)
    assert found.distortions.dtype == np.float64


def test_coincident_dissimilar_pairs_have_an_infinite_distortion_without_a_warning():
    found = validation.judged("dissimilar pairs", pairs_of([0], [1]), Log(), np.ones((2, 2)))
    assert np.isinf(found.distortions[0])
