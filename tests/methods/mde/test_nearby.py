"""Dissimilar pairs near each other on a map: what is drawn, what it estimates, what it improves."""

from __future__ import annotations

import numpy as np
import pytest

import wordgeom as wg
from wordgeom.methods.mde.graphs.keys import keys_of, to_pairs
from wordgeom.methods.mde.graphs.nearby import Sample, nearest_keys
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.runtime.pool import Pool
from wordgeom.vectors.keyed import write_vectors

n = 60
NO_PAIRS = Pairs(np.empty(0, np.int32), np.empty(0, np.int32), np.empty(0, np.float32))


@pytest.fixture(scope="module")
def pool():
    with Pool(2) as made:
        yield made


@pytest.fixture(scope="module")
def points():
    return np.random.default_rng(1).standard_normal((n, 2)).astype(np.float32)


def lengths(vectors):
    return np.linalg.norm(vectors[:, None].astype(float) - vectors, axis=2)


def by_brute_force(vectors, k):
    apart = lengths(vectors)
    np.fill_diagonal(apart, np.inf)
    chosen = np.argsort(apart, axis=1)[:, :k]
    return sorted({min(i, j) * n + max(i, j) for i in range(n) for j in chosen[i].tolist()})


@pytest.mark.parametrize("k", [1, 5, n + 3])
def test_each_item_is_paired_with_its_nearest(points, pool, k):
    assert nearest_keys(points, k, pool).tolist() == by_brute_force(points, min(k, n - 1))


def test_items_that_coincide_are_paired(pool):
    keys = nearest_keys(np.zeros((9, 2), np.float32), 2, pool)
    left, right = np.divmod(keys, 9)
    assert (left < right).all()
    assert set(left) | set(right) == set(range(9))


def test_pairs_are_the_nearest_and_random_ones_but_for_those_in_use(points, pool):
    without = np.array(by_brute_force(points, 2))
    drawn = Sample(n, 6, 40, 0.1, NO_PAIRS, without).drawn(points, np.random.default_rng(2), pool)
    keys = keys_of(drawn, n)
    near = np.setdiff1d(by_brute_force(points, 6), without)
    assert len(drawn) == len(near) + 40
    assert (np.diff(keys) > 0).all()
    assert not np.isin(keys, without).any()
    weights = dict(zip(keys.tolist(), drawn.given.tolist(), strict=True))
    assert {weights[key] for key in near.tolist()} == {np.float32(0.1)}
    assert drawn.given.sum() == pytest.approx(0.1 * (n * (n - 1) // 2 - len(without)), rel=1e-5)


def test_a_sum_over_the_sample_estimates_the_sum_over_all_pairs(points, pool):
    apart = np.exp(-lengths(points))
    estimates, sample = [], Sample(n, 5, 60, 0.5, NO_PAIRS, np.empty(0, np.int64))
    for seed in range(200):
        drawn = sample.drawn(points, np.random.default_rng(seed), pool)
        estimates.append(np.dot(drawn.given, apart[drawn.left, drawn.right]))
    whole = 0.5 * apart[np.triu_indices(n, 1)].sum()
    error = np.std(estimates) / np.sqrt(len(estimates))
    assert abs(np.mean(estimates) - whole) < 4 * error < 0.02 * whole


def test_dissimilar_pairs_of_a_file_stay_and_hidden_ones_are_not_drawn(points, pool):
    given = to_pairs(np.array([5, 9]), n, np.array([2.0, 3.0]))
    sample = Sample(n, 3, 10_000, 0.1, given, np.array([5, 9])).less(np.array([9, 11]))
    drawn = sample.drawn(points, np.random.default_rng(1), pool)
    weights = dict(zip(keys_of(drawn, n).tolist(), drawn.given.tolist(), strict=True))
    assert weights[5] == 2.0
    assert not {9, 11} & weights.keys()
    assert len(weights) == n * (n - 1) // 2 - 2


def test_a_map_keeps_more_neighbours_than_with_random_pairs_alone(tmp_path):
    rng = np.random.default_rng(3)
    centres = rng.standard_normal((8, 10))
    vectors = np.repeat(centres, 25, axis=0) + 0.4 * rng.standard_normal((200, 10))
    words = [f"w{k}" for k in range(200)]
    write_vectors(tmp_path / "v.bin", words, vectors.astype(np.float32))
    recalls = []
    for nearby in (20, 0):
        out = tmp_path / f"{nearby}.bin"
        wg.train(tmp_path / "v.bin", "mde", dim=2, out=out, nearby=nearby, neighbours=8)
        recalls.append(wg.score(out, reference=[tmp_path / "v.bin"]).scores[0].value)
    assert recalls[0] > recalls[1] + 0.02


def test_the_steps_are_divided_among_rounds_that_go_on_from_one_another(tmp_path):
    vectors = np.random.default_rng(4).standard_normal((80, 6)).astype(np.float32)
    write_vectors(tmp_path / "v.bin", [f"w{k}" for k in range(80)], vectors)
    facts = wg.train(tmp_path / "v.bin", "mde", dim=2, steps=45, tol=0.0).statistics
    assert facts["steps"] == 27  # 15, and 3 in each of 4 rounds
    kept = np.diff(facts["distortions"]) <= 0
    later = np.arange(1, 27)
    assert kept[(later < 15) | ((later - 15) % 3 != 0)].all()  # only a change of pairs may raise it
