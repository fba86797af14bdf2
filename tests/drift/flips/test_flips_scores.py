"""Effective scores: 0 for changes of frequency, and a turn in degrees whatever the frequency."""

from __future__ import annotations

import numpy as np
import pytest
from flipping import Passages, drawn, topics

from wordgeom.drift.flips import scores
from wordgeom.drift.flips.levels import orthonormal_levels
from wordgeom.drift.flips.scores import ScoreModel
from wordgeom.drift.time_axis import Axis

T = 8


@pytest.fixture(scope="module")
def shared():
    """Moments of 400 documents of unequal lengths in 3 topics."""
    rng = np.random.default_rng(3)
    B = topics(rng, 4, 25)
    usage = rng.dirichlet(0.5 * np.ones(4), 400) @ B
    passages = Passages(
        drawn(rng, usage, rng.integers(60, 300, 400)), np.arange(400) % T, np.arange(400)
    )
    return passages.moments((B - B.mean(axis=0))[:3].T / B.mean(axis=0)[:, None], passages.cells())


def levels(shared, degree):
    f = np.vander(np.linspace(-1.2, 1.2, T), degree + 1, increasing=True)[:, 1:]
    return f[shared.cells.time]


def noisy(shared, words=5, seed=4):
    """Moments of words of random directions and noise of their order."""
    rng = np.random.default_rng(seed)
    phi = rng.normal(size=(words, shared.rank))
    exact = np.einsum("cab,wb->wca", shared.C, phi)
    return exact + 0.5 * exact.std() * rng.normal(size=exact.shape)


@pytest.mark.parametrize("degree", [1, 2])
def test_contributions_are_orthogonal_to_the_words_direction(shared, degree, monkeypatch):
    """A change of length alone has no score; with the ridge, nearly none."""
    model, G = ScoreModel(shared, levels(shared, degree)), noisy(shared)
    size = None
    for ridge in (0.25, 0.0):
        monkeypatch.setattr(scores, "_RIDGE", ridge)
        phi, *_ = model._fit(G)
        parts = model.scores(G).parts.reshape(5, -1, degree, shared.rank)
        along = np.abs(np.einsum("wckr,wr->wck", parts, phi)).max()
        size = np.abs(parts).max() * np.abs(phi).max()
        assert along < (0.5 if ridge else 1e-10) * size


@pytest.mark.parametrize("degree", [1, 2])
def test_contributions_add_up_to_the_score(shared, degree, monkeypatch):
    monkeypatch.setattr(scores, "_RIDGE", 0.0)
    monkeypatch.setattr(scores, "_HALF", 0.0)  # without the correction of leverage
    found = ScoreModel(shared, levels(shared, degree)).scores(noisy(shared))
    gap = np.abs(found.parts.sum(axis=1) - found.total).max()
    assert gap < 1e-9 * np.abs(found.parts).max()


@pytest.mark.parametrize("gamma", [0.0, 0.7, -0.7])
def test_a_change_of_frequency_is_no_change(shared, gamma):
    """exp(γ f): eight times as many uses at the end as at the start."""
    f = levels(shared, 1)
    phi = np.random.default_rng(5).normal(size=(4, shared.rank))
    G = np.exp(gamma * f[:, 0])[None, :, None] * np.einsum("cab,wb->wca", shared.C, phi)
    found = ScoreModel(shared, f).scores(G)
    assert np.abs(found.total).max() < 1e-3 * np.abs(G.sum(axis=1)).max()
    assert found.turn.max() < 0.1


@pytest.mark.parametrize("k", [0.3, 0.9])
def test_the_turn_is_the_angle_of_the_change(shared, k):
    """A change at right angles, k times as long in the metric ΣC, turns the word by arctan k.

    Words that become more frequent turn as much, up to second order.
    """
    sizes = np.bincount(shared.cells.time[shared.cells.of])
    axis = Axis(
        np.arange(T, dtype=np.float64)[:, None], np.repeat(np.arange(T), sizes).astype(np.int32)
    )
    f = orthonormal_levels(axis)[shared.cells.time]
    first, second = np.eye(shared.rank)[:2] / np.sqrt(shared.energy[:2, None])
    G = shared.C @ first + f * (shared.C @ (k * second))
    later = 1.0 + 0.3 * f  # 2.8 times as frequent at the end as at the start
    turns = ScoreModel(shared, f).scores(np.stack([G, 7.0 * G, later * G])).turn
    np.testing.assert_allclose(turns[:2], np.degrees(np.arctan(k)), rtol=0.05)
    assert turns[2] == pytest.approx(turns[0], rel=0.2)


def test_scores_do_not_depend_on_the_scale_of_a_word(shared):
    model, G = ScoreModel(shared, levels(shared, 2)), noisy(shared)
    one, other = model.scores(G), model.scores(7.0 * G)
    np.testing.assert_allclose(other.total, 7.0 * one.total, rtol=1e-8)
    np.testing.assert_allclose(other.parts, 7.0 * one.parts, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(other.turn, one.turn, rtol=1e-8)


def test_a_word_without_uses_has_no_turn(shared):
    found = ScoreModel(shared, levels(shared, 1)).scores(np.zeros((2, len(shared.C), shared.rank)))
    assert np.array_equal(found.total, np.zeros_like(found.total))
    assert np.isnan(found.turn).all()
