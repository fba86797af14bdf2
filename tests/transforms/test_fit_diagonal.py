"""Weights of singular directions: against ridge regression, planted weights, what they leave."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from wordgeom.evaluation.similarity import pearson, spearman
from wordgeom.transforms.fit.axis_weights import axis_slopes, axis_weights
from wordgeom.transforms.fit.correlation import Judged
from wordgeom.transforms.fit.diagonal import Diagonal
from wordgeom.transforms.fit.scored_pairs import ScoredPairs, unit
from wordgeom.vectors.keyed import read_vectors, write_vectors

K, WORDS, PAIRS = 6, 80, 400
WEIGHTS = np.array([0.3, 1.5, 0.7, 1.2, 0.5, 1.0])
NAMES = [f"noun{k}" for k in range(WORDS)]


@pytest.fixture
def rng():
    return np.random.default_rng(18)


def random_pairs(rng, number=PAIRS):
    left, right = np.triu_indices(WORDS, 1)
    some = rng.choice(len(left), number, replace=False)
    return ScoredPairs(left[some], right[some], np.zeros(number))


def judged_by(weights, rows, pairs, noise=None):
    """Return the pairs with the cosines after weighting as scores."""
    scores = pairs.cosines(rows * weights)
    return ScoredPairs(pairs.left, pairs.right, scores + (0.0 if noise is None else noise))


@pytest.mark.parametrize("number", [4, 40])
def test_the_weights_are_those_of_a_ridge_regression(rng, number):
    units = unit(rng.standard_normal((WORDS, K)))
    pairs = judged_by(WEIGHTS, units, random_pairs(rng, number))
    prior = np.cov(rng.standard_normal((K, 20)))
    c = pairs.cosines(units)
    design = np.column_stack((np.ones(number), c, axis_slopes(units, pairs)))
    penalty = np.zeros((2 + K, 2 + K))
    penalty[2:, 2:] = np.linalg.inv(prior)
    beta = np.linalg.solve(design.T @ design + penalty, design.T @ pairs.scores)
    assert beta[1] > 0.3 * np.polyfit(c, pairs.scores, 1)[0]
    found = 2 * np.log(axis_weights(units, pairs, prior))
    np.testing.assert_allclose(found, beta[2:] / beta[1], atol=1e-10)


def test_small_planted_weights_are_found_exactly(rng):
    # First-order terms are exact in the limit, so that an error of second order remains.
    units, theta = unit(rng.standard_normal((WORDS, K))), 1e-4 * rng.standard_normal(K)
    pairs = judged_by(np.exp(theta / 2), units, random_pairs(rng))
    found = 2 * np.log(axis_weights(units, pairs, 1e6 * np.eye(K)))
    # Equal weights change no cosine: θ is determined up to a constant.
    np.testing.assert_allclose(found - found.mean(), theta - theta.mean(), atol=1e-7)


def test_the_map_weights_the_directions_and_leaves_the_rest(rng):
    Z = np.linalg.qr(rng.standard_normal((K, K)))[0][:4]
    family = Diagonal(Z)
    C = family.matrix(WEIGHTS[:4] - 1.0)
    np.testing.assert_allclose(Z @ C, WEIGHTS[:4, None] * Z, atol=1e-12)
    rest = rng.standard_normal(K)
    rest -= Z.T @ (Z @ rest)
    np.testing.assert_allclose(C @ rest, rest, atol=1e-12)


def test_the_penalty_pulls_the_map_to_the_identity(rng):
    rows = rng.standard_normal((WORDS, K))
    pairs = judged_by(WEIGHTS, rows, random_pairs(rng))
    judged = Judged(unit(rows), pairs.left, pairs.right, pairs.scores, np.eye(K))
    family = Diagonal(np.eye(K))
    sizes, fits = [], []
    for penalty in (1e6, 1.0, 0.1, 1e-3):
        found = family.fit(judged, penalty, family.start(judged))
        sizes.append(np.abs(found).max())
        fits.append(pearson(judged.cosines(family.matrix(found)), judged.scores))
    assert sizes[0] < 1e-4
    assert sizes == sorted(sizes)
    assert fits == sorted(fits)


# --- the command


def write_pairs(path, pairs):
    lines = [f"{NAMES[a]}\t{NAMES[b]}\t{s:.6f}\n" for a, b, s in
             zip(pairs.left, pairs.right, pairs.scores, strict=True)]  # fmt: skip
    Path(path).write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def planted(tmp_path, monkeypatch, rng):
    """Rotated vectors, and pairs of half of the words, whose singular directions are weighted."""
    monkeypatch.chdir(tmp_path)
    canonical = rng.standard_normal((WORDS, K)) * np.arange(2 * K, K, -1)
    U, s, _ = np.linalg.svd(canonical, full_matrices=False)
    people = U * s * WEIGHTS
    rows = (U * s) @ np.linalg.qr(rng.standard_normal((K, K)))[0]
    write_vectors("in.bin", NAMES, rows.astype(np.float32))
    every = random_pairs(rng, 1200)
    seen = (every.left < WORDS // 2) & (every.right < WORDS // 2)
    unseen = (every.left >= WORDS // 2) & (every.right >= WORDS // 2)
    for name, which in (("pairs.tsv", seen), ("fresh.tsv", unseen)):
        part = every.part(np.flatnonzero(which))
        noise = 0.05 * rng.standard_normal(len(part.scores)) if name == "pairs.tsv" else None
        write_pairs(name, judged_by(np.ones(K), people, part, noise))
    return rows, people


def run(ask, *options, status=0):
    done = ask("transform", "in.bin", "-o", "out.bin", "--fit", "pairs.tsv", *options)
    assert done.status == status, done.err
    return done


def card():
    return json.loads(Path("out.bin.json").read_text(encoding="utf-8"))["statistics"]


def test_own_pairs_and_pairs_of_other_words_gain(planted, ask, rng):
    rows, people = planted
    run(ask, "--report", "fresh.tsv")
    step, (first, *_) = card()["steps"]["fit"], card()["report"]
    assert step["map"] == "diagonal"
    assert step["correlation"] > step["correlation_before"] + 0.05
    assert first["measure"] == "spearman"
    assert first["low"] > 0
    made = read_vectors("out.bin").matrix.astype(np.float64)
    pairs = random_pairs(rng)
    gold = pairs.cosines(people)
    assert spearman(pairs.cosines(made), gold) > spearman(pairs.cosines(rows), gold) + 0.05


def test_the_map_is_symmetric_and_has_the_singular_directions(planted, ask):
    run(ask)
    before, after = (read_vectors(path).matrix.astype(np.float64) for path in ("in.bin", "out.bin"))
    C = np.linalg.lstsq(before, after, rcond=None)[0].T
    np.testing.assert_allclose(C, C.T, atol=1e-5)
    Z = np.linalg.svd(before, full_matrices=False)[2]
    weights = Z @ C @ Z.T
    np.testing.assert_allclose(weights, np.diag(np.diag(weights)), atol=1e-5)
    assert (np.diag(weights) > 0).all()


def test_a_third_of_the_gain_decides(planted, ask):
    run(ask)
    step = card()["steps"]["fit"]
    gains = np.array(step["held_out"]) - step["held_out"][0]
    first = int(np.flatnonzero(gains >= gains.max() / 3)[0])
    assert step["penalty"] == step["penalties"][first]
    assert step["folds"] == 15


def test_a_fixed_penalty_is_used(planted, ask):
    run(ask, "--penalty", "1e6")
    before, after = (read_vectors(path).matrix for path in ("in.bin", "out.bin"))
    np.testing.assert_allclose(after, before, rtol=1e-3, atol=1e-3)
    assert card()["steps"]["fit"]["penalty"] == 1e6


def test_vectors_of_low_rank_and_zero_vectors_stay_so(planted, ask):
    rows, _ = planted
    rows = rows.copy()
    rows[:, 4:] = rows[:, :2]
    rows[7] = 0
    write_vectors("in.bin", NAMES, rows.astype(np.float32))
    run(ask)
    made = read_vectors("out.bin").matrix.astype(np.float64)
    assert np.linalg.svd(made)[1][4] < 1e-4
    assert not made[7].any()


@pytest.mark.parametrize("step", [("--orthonormal",), ("--power", "0")])
def test_equal_directions_cannot_be_weighted(planted, ask, step):
    done = run(ask, *step, status=2)
    assert done.err.count("\n") == 1
    assert f"after {' '.join(step)} all are equal" in done.err
    assert not Path("out.bin").exists()
    run(ask, *step, "--map", "low-rank")
