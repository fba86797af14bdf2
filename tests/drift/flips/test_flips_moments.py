"""Moments of topics and words are sums over pairs of different tokens: unbiased at any length."""

from __future__ import annotations

import numpy as np
import pytest
from flipping import Passages, drawn, topics

from wordgeom.core.errors import InputError, RankError
from wordgeom.drift.flips.cells import FOLDS
from wordgeom.drift.flips.kernels import word_moments
from wordgeom.drift.flips.moments import _clear

LENGTHS = 2, 3, 7, 4, 12, 5, 2, 9, 30, 6, 3, 8


def few(seed=1):
    """Passages of unequal lengths at three times; two are of one document."""
    rng = np.random.default_rng(seed)
    X = drawn(rng, rng.dirichlet(np.ones(5), len(LENGTHS)), np.array(LENGTHS))
    return Passages(X, np.repeat([0, 1, 2], 4), np.array([0, 1, 2, 3, 4, 5, 5, 7, 8, 9, 10, 11]))


def over_pairs(passages, P, folds, time):
    """Σ w_i(1 − a_i) P_v P_v'ᵀ over pairs within passages − those between, and by first word."""
    rows = np.flatnonzero(passages.times == time)
    w = passages.weights[rows] / passages.weights[rows].sum()
    tokens = [np.repeat(np.arange(passages.X.shape[1]), passages.X[i]) for i in rows]
    C, G = np.zeros((P.shape[2],) * 2), np.zeros((passages.X.shape[1], P.shape[2]))
    for i, first in enumerate(tokens):
        for j, second in enumerate(tokens):
            amount = w[i] * (1 - w[i]) / (len(first) - 1) if i == j else -w[i] * w[j] / len(second)
            for s, v in enumerate(first):
                for t, u in enumerate(second):
                    if i == j and s == t:
                        continue
                    one, other = P[folds[rows[i]], v], P[folds[rows[j]], u]
                    C += amount / len(first) * np.outer(one, other)
                    G[v] += amount / len(first) * other
    total = passages.weights[rows].sum()
    return C * total, G * total


def test_moments_of_a_time_are_sums_over_pairs_of_different_tokens():
    passages, rng = few(), np.random.default_rng(2)
    base = rng.normal(size=(5, 3))
    folded = base + 0.1 * rng.normal(size=(FOLDS, 5, 3))
    cells = passages.cells()
    found = passages.moments(folded, cells)
    G = found.of_words(passages.columns(), 0)
    for time in range(3):
        C, each = over_pairs(passages, found.P, cells.fold[cells.of], time)
        among = cells.time == time
        np.testing.assert_allclose(found.C[among].sum(axis=0), C, atol=1e-6 * np.abs(C).max())
        np.testing.assert_allclose(G[:, among].sum(axis=1), each, atol=1e-5 * np.abs(each).max())


def test_coordinates_are_canonical():
    found = few().moments(np.random.default_rng(2).normal(size=(5, 3)), few().cells())
    np.testing.assert_allclose(found.C.sum(axis=0), np.diag(found.energy), atol=1e-9)
    assert np.all(np.diff(found.energy) <= 0)
    assert found.rank == len(found.energy) >= 2


@pytest.mark.parametrize("lengths", [(20,), (500,), (5, 20, 500)])
def test_moments_are_unbiased_at_any_length(lengths):
    """Means of 60 draws of the words, given their probabilities, within 4 standard errors."""
    rng = np.random.default_rng(4)
    B, times = topics(rng, 3, 12), np.repeat([0, 1], 60)
    shares = np.where(times[:, None] == 0, [1.0, 0.5, 0.5], [0.3, 0.3, 0.6])
    usage = np.array([rng.dirichlet(a) for a in shares]) @ B
    P = (B - B.mean(axis=0))[:2].T / B.mean(axis=0)[:, None]
    found = []
    for _ in range(60):
        X = drawn(rng, usage, np.resize(lengths, 120))
        passages = Passages(X, times, np.arange(120) // 20)  # of few documents, for speed
        made = passages.moments(P, passages.cells())
        back = np.linalg.pinv(np.linalg.lstsq(P, made.P[0])[0])
        G = made.of_words(passages.columns(), 0)
        one = made.cells.time == 1
        found.append(
            np.vstack([back.T @ made.C[one].sum(axis=0) @ back, G[:, one].sum(axis=1) @ back])
        )
    w, rows = passages.weights[60:], usage[60:]
    centred = rows - np.average(rows, axis=0, weights=w)
    true = (centred.T * w) @ centred
    true = np.vstack([P.T @ true @ P, true @ P])
    error = np.std(found, axis=0) / np.sqrt(len(found))
    assert np.abs((np.mean(found, axis=0) - true) / error).max() < 4.0


def test_the_kernel_adds_as_numpy_does():
    passages, rng = few(), np.random.default_rng(5)
    n, p = passages.X.shape
    cells, Z = passages.cells(), rng.normal(size=(n, 2))
    weights, own, columns = rng.random(n), rng.random(n), passages.columns()
    G, owned, mass = np.ones((p, len(cells), 2)), np.zeros((p, len(cells))), np.zeros((p, 3))
    word_moments(
        columns.indptr, columns.indices, columns.data, passages.lengths, weights, own, Z,
        cells.of, cells.time, G, owned, mass,
    )  # fmt: skip
    shares, among = passages.X / passages.lengths[:, None], np.eye(len(cells))[cells.of].T
    for j in range(p):
        np.testing.assert_allclose(G[j], 1.0 + among @ (shares[:, [j]] * Z))
        np.testing.assert_allclose(owned[j], among @ (shares[:, j] * own))
        np.testing.assert_allclose(mass[j], np.bincount(passages.times, shares[:, j] * weights))


def test_words_in_blocks_have_the_same_moments():
    passages = few()
    found = passages.moments(np.random.default_rng(2).normal(size=(5, 3)), passages.cells())
    columns = passages.columns()
    parts = [found.of_words(columns.block(a, b), a) for a, b in ((0, 2), (2, 5))]
    np.testing.assert_array_equal(np.concatenate(parts), found.of_words(columns, 0))


def test_a_time_with_one_document_has_no_part():
    whole, rng = few(), np.random.default_rng(6)
    more = Passages(
        np.vstack([whole.X, [[9, 0, 3, 0, 1]]]),
        np.append(whole.times, 3),
        np.append(whole.units, 12),
    )
    P = rng.normal(size=(5, 3))
    alone, among = (each.moments(P, each.cells()) for each in (whole, more))
    G = among.of_words(more.columns(), 0)
    last = among.cells.time == 3
    assert np.abs(among.C[last]).max() < 1e-12
    assert np.abs(G[:, last]).max() < 1e-6 * np.abs(G).max()
    np.testing.assert_allclose(among.energy, alone.energy)  # of the mean weight alone
    C = [each.moments(P, each.cells()).C.sum(axis=0) for each in (whole, more)]
    np.testing.assert_allclose(C[0], C[1], atol=1e-9)


def test_topics_without_signal_or_of_too_low_a_rank_are_one_line():
    rng, P = np.random.default_rng(7), np.random.default_rng(8).normal(size=(6, 3))
    alike = drawn(rng, np.tile(rng.dirichlet(np.ones(6)), (40, 1)), np.full(40, 30))
    noise = Passages(alike, np.arange(40) % 4, np.arange(40))
    with pytest.raises(InputError, match=r"fewer than 2 topics exceed the noise .*; raise --rank"):
        noise.moments(np.hstack([P[:, :1], P[:, 1:2]]) * 1.0, noise.cells())
    with pytest.raises(RankError, match="3 topics need data of a higher rank; lower --rank"):
        noise.moments(np.hstack([P[:, :2], np.zeros((6, 1))]), noise.cells())


def test_a_topic_below_its_noise_is_left_out_if_it_matters_little():
    """Its ΣC is positive, but smaller than the noise of its moments with another topic."""
    noise = np.random.default_rng(4).normal(size=50)
    noise -= noise.mean()

    def kept(energy: float, deviation: float) -> list[int]:
        C = np.zeros((50, 3, 3))
        C[:, 0, 0], C[:, 1, 1], C[:, 2, 2] = 5.0, 2.0, energy
        C[:, 0, 2] = C[:, 2, 0] = deviation * noise
        found, rows = _clear(C, np.einsum("caa->a", C))
        np.testing.assert_array_equal(found, C[:, rows][:, :, rows])
        return rows.tolist()

    assert kept(energy=0.02, deviation=0.3) == [0, 1]
    assert kept(energy=0.02, deviation=0.03) == [0, 1, 2]  # clear of noise
    assert kept(energy=0.2, deviation=3.0) == [0, 1, 2]  # too much to lose
