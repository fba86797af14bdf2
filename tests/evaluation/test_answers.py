"""Scores and intervals against closed forms, and differences between two models."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from wordgeom.evaluation.answers import Answers, Measure, difference, group_scores, scores
from wordgeom.evaluation.resampling import BOOTSTRAP, JACKKNIFE


def mean(given, gold):
    return float(np.mean(given - gold))


def answers(values, resampling=BOOTSTRAP, **more):
    values = np.asarray(values, float)
    n = len(values)
    given = Answers(
        "task", "set", (Measure("mean", mean, resampling),), np.arange(n), values, np.zeros(n)
    )
    return replace(given, **more)


def drawn(n, seed=0):
    return np.random.default_rng(seed).standard_normal(n)


def test_the_bootstrap_interval_of_a_mean_agrees_with_the_normal_distribution():
    values = drawn(4000)
    (score,) = scores(answers(values), 4000, seed=1)
    half = 1.96 * values.std() / math.sqrt(len(values))
    assert score.value == values.mean()
    assert (score.low, score.high) == pytest.approx(
        (score.value - half, score.value + half), abs=0.06 * half
    )
    assert (score.used, score.total) == (4000, 4000)


def test_the_jackknife_interval_of_a_mean_follows_from_its_standard_error():
    values = drawn(20)  # as many items as groups
    (score,) = scores(answers(values, JACKKNIFE), 1000, seed=1)
    half = 1.959963984540054 * values.std(ddof=1) / math.sqrt(20)
    assert (score.low, score.high) == pytest.approx((score.value - half, score.value + half))


def test_the_grouped_jackknife_agrees_with_the_bootstrap_on_average():
    widths = []
    for seed in range(30):
        values = drawn(900, seed)
        wide = [scores(answers(values, how), 400, 1)[0] for how in (JACKKNIFE, BOOTSTRAP)]
        widths.append([score.high - score.low for score in wide])
    jackknife, bootstrap = np.mean(widths, axis=0)
    assert jackknife == pytest.approx(bootstrap, rel=0.1)


@pytest.mark.parametrize("resampling", [BOOTSTRAP, JACKKNIFE])
def test_the_interval_depends_on_the_seed_alone(resampling):
    values = answers(drawn(100), resampling)
    assert scores(values, 200, 1) == scores(values, 200, 1)
    assert scores(values, 200, 1) != scores(values, 200, 2)


@pytest.mark.parametrize(("n", "resamples"), [(0, 100), (2, 100), (50, 0)])
def test_too_few_items_or_no_resamples_give_no_interval(n, resamples):
    measure = Measure("count", lambda given, gold: float(len(given)))
    (score,) = scores(answers(drawn(n), measures=(measure,)), resamples, 1)
    assert score.value == n
    assert math.isnan(score.low)
    assert math.isnan(score.high)


def test_resamples_with_an_undefined_score_are_ignored():
    def fragile(given, gold):
        return float(given.mean()) if given[0] > 0 else math.nan

    values = np.abs(drawn(60))
    values[:30] *= -1
    values[0] = 1
    (score,) = scores(answers(values, measures=(Measure("fragile", fragile),)), 500, 1)
    assert score.low < values.mean() < score.high


@pytest.mark.parametrize("resampling", [BOOTSTRAP, JACKKNIFE])
@pytest.mark.parametrize(("n", "value"), [(40, 0.0), (4, 1.0), (37, 0.1)])
def test_resamples_with_equal_scores_give_no_interval(n, value, resampling):
    (score,) = scores(answers(np.full(n, value), resampling), 200, 1)
    assert score.value == pytest.approx(value)
    assert math.isnan(score.low)
    assert math.isnan(score.high)
    one_off = np.full(n, value)
    one_off[0] += 1
    (other,) = scores(answers(one_off, resampling), 200, 1)
    assert other.low < other.high


def test_groups_are_scored_by_their_own_items():
    values = drawn(50)
    groups = {"first": np.arange(20), "rest": np.arange(20, 50)}
    found = group_scores(answers(values, groups=groups, excluded={"unknown": 49}), 200, 1)
    for name, chosen in groups.items():
        (alone,) = scores(answers(values[chosen]), 200, 1)
        assert found[name] == [replace(alone, total=len(chosen))]


def test_the_difference_from_itself_is_zero():
    given = answers(drawn(40))
    score = difference(given, given, given.measures[0], 300, 1)
    assert score.value == 0
    assert math.isnan(score.low)  # all resamples are equal
    assert math.isnan(score.high)


def test_a_difference_uses_the_items_that_both_answered():
    values, more = drawn(60), drawn(60, 1) / 100 + 1
    odd = np.arange(1, 60, 2)
    first = answers(values)
    second = replace(answers((values + more)[odd]), items=odd)
    score = difference(first, second, first.measures[0], 500, 1)
    assert score.value == pytest.approx(more[odd].mean())
    assert (score.used, score.total) == (30, 60)
    # Paired: the standard deviation of the items, a hundred times as large, cancels.
    assert score.high - score.low < 0.02
    back = difference(second, first, first.measures[0], 500, 1)
    assert (back.value, back.low, back.high) == pytest.approx(
        (-score.value, -score.high, -score.low)
    )


def test_answers_without_common_items_have_no_difference():
    measure = Measure("mean", lambda a, b: float(a.mean()) if len(a) else math.nan)
    first = answers(drawn(5), measures=(measure,))
    second = replace(first, items=np.arange(5, 10))
    score = difference(first, second, measure, 100, 1)
    assert math.isnan(score.value)
    assert score.used == 0
