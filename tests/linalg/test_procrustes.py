"""Procrustes alignment: planted rotations, closed forms, and SciPy's result."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import orthogonal_procrustes

from wordgeom.linalg.procrustes import align


def rotation(rng, K, sign=1.0):
    """A random orthogonal matrix with determinant `sign`."""
    Q = np.linalg.qr(rng.normal(size=(K, K)))[0]
    Q[:, 0] *= sign * np.sign(np.linalg.det(Q))
    return Q


def loss(X, Y, R, weights=1.0):
    return float(np.sum(np.sum((X @ R - Y) ** 2, axis=1) * weights))


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("K", [1, 2, 7])
def test_a_planted_rotation_is_recovered(rng, K, sign):
    X, R = rng.normal(size=(30, K)), rotation(rng, K, sign)
    np.testing.assert_allclose(align(X, X @ R).rotation, R, atol=1e-12)


def test_it_is_the_rotation_of_scipy(rng):
    X, Y = rng.normal(size=(50, 6)), rng.normal(size=(50, 6))
    np.testing.assert_allclose(align(X, Y).rotation, orthogonal_procrustes(X, Y)[0], atol=1e-12)


def test_in_the_plane_the_angle_is_that_of_the_closed_form(rng):
    X, Y = rng.normal(size=(20, 2)), rng.normal(size=(20, 2))
    angle = np.arctan2(np.sum(X[:, 0] * Y[:, 1] - X[:, 1] * Y[:, 0]), np.sum(X * Y))
    c, s = np.cos(angle), np.sin(angle)
    R = align(X, Y, reflect=False).rotation
    np.testing.assert_allclose(R, [[c, s], [-s, c]], atol=1e-12)


def test_without_reflections_the_best_proper_rotation_is_found(rng):
    X = rng.normal(size=(40, 4))
    Y = X @ rotation(rng, 4, -1.0)
    R = align(X, Y, reflect=False).rotation
    assert np.linalg.det(R) == pytest.approx(1.0)
    best = loss(X, Y, R)
    assert all(best <= loss(X, Y, rotation(rng, 4)) for _ in range(300))
    near = np.linalg.qr(R + 1e-3 * rng.normal(size=(4, 4)))[0]
    assert best <= loss(X, Y, near * np.sign(np.sum(near * R, axis=0)))


def test_centring_recovers_a_rigid_motion(rng):
    X, R, shift = rng.normal(size=(25, 3)) + 5.0, rotation(rng, 3), np.array([3.0, -1.0, 10.0])
    found = align(X, X @ R + shift, centre=True)
    np.testing.assert_allclose(found.rotation, R, atol=1e-10)
    np.testing.assert_allclose(found.apply(X), X @ R + shift, atol=1e-10)
    np.testing.assert_array_equal(align(X, X @ R).source_mean, 0.0)


def test_integer_weights_are_repetitions(rng):
    X, Y, w = rng.normal(size=(12, 3)), rng.normal(size=(12, 3)), rng.integers(0, 4, 12)
    repeated = [np.repeat(points, w, axis=0) for points in (X, Y)]
    for centre in (False, True):
        found, wanted = align(X, Y, weights=w, centre=centre), align(*repeated, centre=centre)
        np.testing.assert_allclose(found.rotation, wanted.rotation, atol=1e-12)
        np.testing.assert_allclose(found.apply(X), wanted.apply(X), atol=1e-12)


def test_rotating_either_side_rotates_the_result(rng):
    X, Y = rng.normal(size=(30, 5)), rng.normal(size=(30, 5))
    P, Q = rotation(rng, 5), rotation(rng, 5)
    R = align(X, Y).rotation
    np.testing.assert_allclose(align(X @ P, Y @ Q).rotation, P.T @ R @ Q, atol=1e-12)
    np.testing.assert_allclose(align(3.0 * X, 0.1 * Y).rotation, R, atol=1e-12)


def test_points_of_low_rank_and_float32_give_an_orthogonal_matrix(rng):
    X = np.outer(rng.normal(size=9), rng.normal(size=4)).astype(np.float32)
    R = align(X, X).rotation
    np.testing.assert_allclose(R @ R.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(X @ R, X, atol=1e-6)


@pytest.mark.parametrize(("points", "rank"), [(2, 2), (3, 3), (20, 4)])
def test_the_rank_is_what_the_points_determine(rng, points, rank):
    X = rng.normal(size=(points, 4))
    assert align(X, X @ rotation(rng, 4)).rank() == rank
    centred = align(X, X @ rotation(rng, 4) + 1.0, centre=True)
    assert centred.rank() == min(points - 1, rank)
    assert align(np.zeros((5, 3)), rng.normal(size=(5, 3))).rank() == 0
