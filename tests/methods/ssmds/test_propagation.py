"""Propagation against finite differences and brute force, its invariances and limits."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.evaluation.similarity import pearson, spearman
from wordgeom.methods.ssmds.linearised_pairs import displacement_covariance, tangents
from wordgeom.methods.ssmds.propagation import Frame, Strength, fitted, propagate
from wordgeom.methods.ssmds.propagation_choice import choose
from wordgeom.transforms.fit.axis_weights import axis_slopes
from wordgeom.transforms.fit.score_regression import coefficients
from wordgeom.transforms.fit.scored_pairs import ScoredPairs, unit

U, K, M = 12, 6, 20
BOTH = Strength(10.0, 3.0, 2)


def noisy(covariance):
    """Return what solves equations with a covariance plus that of the noise, 1."""
    return lambda right: np.linalg.solve(covariance + np.eye(len(covariance)), right)


@pytest.fixture
def rng():
    return np.random.default_rng(18)


def random_pairs(rng, words=U, number=M):
    left, right = np.triu_indices(words, 1)
    some = rng.choice(len(left), number, replace=False)
    return ScoredPairs(left[some], right[some], rng.uniform(0, 10, number))


def agreeing(vectors, pairs, rng, noise=0.2):
    """Return the pairs with scores that rise with cosines."""
    scores = pairs.cosines(vectors) + noise * rng.standard_normal(len(pairs.scores))
    return ScoredPairs(pairs.left, pairs.right, scores)


def test_tangents_are_the_derivatives_of_the_cosines(rng):
    units, pairs = unit(rng.standard_normal((U, K))), random_pairs(rng)
    A, B = tangents(units, pairs)
    D, h = rng.standard_normal((U, K)), 1e-6
    difference = (pairs.cosines(units + h * D) - pairs.cosines(units - h * D)) / (2 * h)
    expected = np.sum(A * D[pairs.left], 1) + np.sum(B * D[pairs.right], 1)
    np.testing.assert_allclose(difference, expected, atol=1e-8)


def test_axis_slopes_are_the_derivatives_in_log_weights(rng):
    units, pairs = unit(rng.standard_normal((U, K))), random_pairs(rng)
    theta, h = rng.standard_normal(K), 1e-6
    ends = [pairs.cosines(units * np.exp(0.5 * sign * h * theta)) for sign in (1, -1)]
    difference = (ends[0] - ends[1]) / (2 * h)
    np.testing.assert_allclose(difference, axis_slopes(units, pairs) @ theta, atol=1e-8)


@pytest.mark.parametrize("power", [1, 2, 3])
def test_covariance_is_that_of_independent_coordinates(rng, power):
    units, pairs = unit(rng.standard_normal((U, K))), random_pairs(rng)
    A, B = tangents(units, pairs)
    J = np.zeros((M, U, K))
    J[np.arange(M), pairs.left] += A
    J[np.arange(M), pairs.right] += B
    prior = (units @ units.T) ** power
    expected = np.einsum("tik,ij,sjk->ts", J, prior, J)
    found = displacement_covariance(units, pairs, power)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    assert np.linalg.eigvalsh(found).min() > -1e-10


def test_coefficients_solve_the_penalised_least_squares_problem(rng):
    units, pairs = unit(rng.standard_normal((U, K))), random_pairs(rng)
    c, scores = pairs.cosines(units), agreeing(units, random_pairs(rng), rng).scores
    scores = c + 0.1 * scores
    R = rng.standard_normal((M, 3))  # f = R g, g of variance 1: a covariance of low rank
    design = np.column_stack((np.ones(M), c, R))
    penalty = np.diag([0.0, 0.0, 1.0, 1.0, 1.0])
    beta = np.linalg.solve(design.T @ design + penalty, design.T @ scores)
    found = R @ R.T @ coefficients(noisy(R @ R.T), c, scores)
    plain = np.polyfit(c, scores, 1)[0]
    assert beta[1] > 0.3 * plain
    np.testing.assert_allclose(found, R @ beta[2:] / beta[1], atol=1e-10)


def test_coefficients_ignore_shift_and_unit_of_the_scores(rng):
    units = unit(rng.standard_normal((U, K)))
    pairs = agreeing(units, random_pairs(rng), rng)
    c, covariance = pairs.cosines(units), displacement_covariance(units, pairs, 2)
    found = coefficients(noisy(covariance), c, pairs.scores)
    again = coefficients(noisy(covariance), c, 7 * pairs.scores - 3)
    np.testing.assert_allclose(again, found, atol=1e-10)


def test_small_steps_change_the_cosines_as_predicted(rng):
    units = unit(rng.standard_normal((U, K)))
    pairs = agreeing(units, random_pairs(rng), rng)
    c, variance, rank = pairs.cosines(units), 1e-4, np.arange(1, K + 1)
    prior = np.exp(-abs(np.log(rank[:, None] / rank)))  # min / max
    slopes = axis_slopes(units, pairs)
    for covariance, given in (
        (slopes @ prior @ slopes.T, Strength(variance, 0.0, 2)),
        (displacement_covariance(units, pairs, 2), Strength(0.0, variance, 2)),
    ):
        covariance = variance * covariance
        change = pairs.cosines(fitted(units, pairs, given)(units)) - c
        np.testing.assert_allclose(
            change, covariance @ coefficients(noisy(covariance), c, pairs.scores), atol=1e-7
        )
        assert np.abs(change).max() > 1e-6


@pytest.mark.parametrize("case", ["against", "constant scores", "constant cosines"])
def test_scores_that_say_nothing_move_nothing(rng, case):
    c = np.full(M, 0.5) if case == "constant cosines" else rng.standard_normal(M)
    scores = {"against": -c, "constant scores": np.ones(M)}.get(case, rng.standard_normal(M))
    assert not coefficients(noisy(np.eye(M)), c, scores).any()


def test_strength_zero_only_centres(rng):
    X = (rng.standard_normal((50, K)) + 1).astype(np.float32)
    pairs = agreeing(X[:U], random_pairs(rng), rng)
    made = propagate(X, np.arange(U), pairs, Strength(0.0, 0.0, 2))
    units = unit(X.astype(np.float64))
    np.testing.assert_allclose(
        unit(made.astype(float)), unit(units - units.mean(axis=0)), atol=1e-9
    )


def test_a_weak_prior_moves_little_and_a_strong_one_fits_the_pairs(rng):
    X = rng.standard_normal((300, 40))
    pairs = agreeing(X[:U], random_pairs(rng), rng)
    fits = []
    for s in (1e-6, 1e-2, 1.0, 100.0):
        made = propagate(X, np.arange(U), pairs, Strength(0.0, s, 2))
        fits.append(pearson(pairs.cosines(made[:U].astype(float)), pairs.scores))
    assert fits == sorted(fits)
    centred = Frame.of(X).inwards(X[:U])
    assert fits[0] == pytest.approx(pearson(pairs.cosines(centred), pairs.scores), abs=1e-4)
    assert fits[-1] > 0.95


def test_only_supervised_words_move_when_the_kernel_is_sharp(rng):
    X = rng.standard_normal((60, 40))
    pairs = agreeing(X[:U], random_pairs(rng), rng)
    made = propagate(X, np.arange(U), pairs, Strength(0.0, 3.0, 400))
    still = propagate(X, np.arange(U), pairs, Strength(0.0, 0.0, 1))
    np.testing.assert_allclose(made[U:], still[U:], atol=1e-6)
    assert np.abs(made[:U] - still[:U]).max() > 0.1


def test_a_rotation_of_the_space_rotates_the_result(rng):
    X = rng.standard_normal((80, K)) * np.arange(K, 0, -1) + 1
    pairs = agreeing(X[:U], random_pairs(rng), rng)
    Q = np.linalg.qr(rng.standard_normal((K, K)))[0]
    made = propagate(X, np.arange(U), pairs, BOTH)
    np.testing.assert_allclose(propagate(X @ Q, np.arange(U), pairs, BOTH), made @ Q, atol=1e-4)


def test_order_of_rows_pairs_and_words_does_not_matter(rng):
    X = rng.standard_normal((80, K)) + 1
    pairs = agreeing(X[:U], random_pairs(rng), rng)
    made = propagate(X, np.arange(U), pairs, BOTH)
    order, shuffled = rng.permutation(80), rng.permutation(M)
    mixed = ScoredPairs(pairs.right[shuffled], pairs.left[shuffled], pairs.scores[shuffled])
    rows = np.argsort(order)[:U]
    np.testing.assert_allclose(propagate(X[order], rows, mixed, BOTH), made[order], atol=1e-5)


def test_lengths_and_zero_vectors_are_preserved_across_blocks(rng):
    X = (rng.standard_normal((9000, K)) + 0.5).astype(np.float32)
    X[[77, 5000]] = 0
    pairs = agreeing(X[:U], random_pairs(rng), rng)
    made = propagate(X, np.arange(U), pairs, BOTH)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), np.linalg.norm(X, axis=1), rtol=1e-5)
    assert not Frame.of(X).inwards(X[[77, 5000]]).any()
    units = unit(X.astype(float))
    present = X.any(axis=1)
    Z = units[present] - units[present].mean(axis=0)
    axes = np.linalg.svd(Z, full_matrices=False)[2]
    coordinates = unit(Z @ axes.T)
    step = fitted(coordinates[:U], pairs, BOTH)
    np.testing.assert_allclose(
        unit(made.astype(float))[present], unit(step(coordinates)) @ axes, atol=1e-5
    )


def test_vectors_of_low_rank_stay_finite(rng):
    X = np.pad(rng.standard_normal((50, 3)), ((0, 0), (0, 3)))
    pairs = agreeing(X[:U], random_pairs(rng), rng)
    made = propagate(X, np.arange(U), pairs, BOTH)
    assert np.isfinite(made).all()
    assert not made[:, 3:].any()


def test_a_metric_that_people_have_reaches_words_without_scores(rng):
    # People ignore the six leading axes, on which words have half of their squared length.
    X = rng.standard_normal((1000, 30)) * np.where(np.arange(30) < 6, 2.0, 1.0)
    people = X * np.where(np.arange(30) < 6, 0.2, 1.0)
    pairs = agreeing(people[:60], random_pairs(rng, 60, 200), rng, 0.05)
    others = random_pairs(rng, 60, 400)
    gold = others.cosines(people[500:560])
    made = propagate(X, np.arange(60), pairs, Strength(10.0, 0.0, 1))
    before, after = (spearman(others.cosines(V[500:560]), gold) for V in (X, made.astype(float)))
    assert after > before + 0.15


def test_words_move_with_the_supervised_words_that_they_resemble(rng):
    # Words 0–4 and 5–9 have partners of much higher scores than their cosines; so have their kin.
    centres = unit(rng.standard_normal((20, 50)))
    kin = np.repeat(np.arange(20), 10)
    X = centres[kin] + 0.03 * rng.standard_normal((200, 50))
    left, right = np.arange(0, 100, 10), np.arange(100, 200, 10)
    words = np.concatenate((left, right))
    u, v = np.triu_indices(20, 1)
    scores = (X[words] @ X[words].T)[u, v] + 0.6 * (v == u + 10)
    pairs = ScoredPairs(u, v, scores)
    made = propagate(X, words, pairs, Strength(0.0, 3.0, 3)).astype(float)
    kindred = ScoredPairs(left + 5, right + 5, np.zeros(10))  # no word of them is supervised
    unrelated = ScoredPairs(left + 5, np.roll(right, 1) + 5, np.zeros(10))
    assert np.mean(kindred.cosines(made) - kindred.cosines(X)) > 0.2
    assert abs(np.mean(unrelated.cosines(made) - unrelated.cosines(X))) < 0.1


def test_the_choice_improves_held_out_pairs_and_is_repeatable(rng):
    X = rng.standard_normal((80, 20)) * np.where(np.arange(20) < 4, 3.0, 1.0)
    people = X * np.where(np.arange(20) < 4, 0.2, 1.0)
    pairs = agreeing(people, random_pairs(rng, 80, 200), rng, 0.05)
    units = Frame.of(X).inwards(X)
    found = choose(units, pairs, X, seed=3)
    assert found.strength is not None
    assert found.after > found.before + 0.05
    assert found == choose(units, pairs, X, seed=3)


def test_pairs_that_share_a_word_cannot_be_validated(rng):
    X = rng.standard_normal((U, K))
    star = ScoredPairs(np.zeros(4, int), np.arange(1, 5), np.arange(4.0))
    found = choose(Frame.of(X).inwards(X[:5]), star, X[:5], seed=0)
    assert found.strength is None
    assert np.isnan(found.after)
