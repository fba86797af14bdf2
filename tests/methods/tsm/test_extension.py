"""The locally linear extension against dense algebra, and the choice of landmarks."""

from __future__ import annotations

import numpy as np
import pytest
from matching import clustered, two_threads

from wordgeom.methods.tsm import extension
from wordgeom.methods.tsm.landmarks import choose_landmarks
from wordgeom.methods.tsm.similarities import unit_rows
from wordgeom.methods.tsm.weights import reconstruction_weights

__all__ = ["two_threads"]  # a fixture
K_NEAR, PENALTY = 8, 1e-3


@pytest.fixture(scope="module")
def points():
    made = clustered(120)
    made[50] = made[51] = 2.0 * made[49]  # parallel and equal points
    return made


def extended(points, landmarks, known, context, k=K_NEAR, tol=1e-10):
    return extension.extend(points, landmarks, known, k, PENALTY, tol, context)


def dense_weights(points, k, penalty):
    """Return W (n × n) by eq. 14, one row at a time."""
    units = points / np.linalg.norm(points, axis=1, keepdims=True)
    W = np.zeros((len(points), len(points)))
    for i, unit in enumerate(units):
        apart = np.square(units - unit).sum(axis=1)
        apart[i] = np.inf
        near = np.argsort(apart, kind="stable")[:k]
        N = points[near]
        system = N @ N.T + penalty * np.diag(np.square(N).sum(axis=1))
        W[i, near] = np.linalg.solve(system, N @ points[i])
    return W


def test_weights_minimise_the_penalised_error(points, context):
    rng = np.random.default_rng(1)
    near = np.array([rng.choice(np.delete(np.arange(120), i), 5, replace=False)
                     for i in range(120)], np.int32)  # fmt: skip
    found = reconstruction_weights(points, near, PENALTY, context.pool, context.progress)

    def error(i, w):
        N = points[near[i]]
        squares = np.square(N).sum(axis=1)
        return np.square(points[i] - w @ N).sum() + PENALTY * (squares * w**2).sum()

    for i in range(0, 120, 7):
        least = error(i, found[i])
        moved = [error(i, found[i] + 1e-3 * rng.standard_normal(5)) for _ in range(5)]
        assert least < min(moved)


def test_the_extension_is_the_least_squares_solution(points, context):
    rng = np.random.default_rng(2)
    landmarks = np.sort(rng.choice(120, 40, replace=False))
    known = rng.standard_normal((40, 3)).astype(np.float32)
    made = extended(points, landmarks, known, context)
    M = np.eye(120) - dense_weights(points, K_NEAR, PENALTY)
    unknown = np.setdiff1d(np.arange(120), landmarks)
    exact = np.linalg.lstsq(M[:, unknown], -M[:, landmarks] @ known, rcond=None)[0]
    np.testing.assert_allclose(made.vectors[unknown], exact, atol=1e-3 * np.abs(exact).max())
    assert made.vectors[landmarks].tobytes() == known.tobytes()
    assert made.reached
    assert made.residual < 1e-8


def test_linear_maps_extend_to_all_points(context):
    points = np.random.default_rng(3).standard_normal((200, 4))
    turn = np.linalg.qr(np.random.default_rng(4).standard_normal((4, 4)))[0][:, :3]
    landmarks = np.arange(60)
    known = (points[landmarks] @ turn).astype(np.float32)
    made = extension.extend(points, landmarks, known, 12, 1e-8, 1e-10, context)
    np.testing.assert_allclose(made.vectors, points @ turn, atol=1e-3)


def test_points_without_a_path_to_a_landmark_are_counted_and_zero(context):
    rng = np.random.default_rng(5)
    groups = [rng.normal(0, 0.1, (20, 4)) + 3.0 * np.eye(4)[g] for g in (0, 2)]
    known = rng.standard_normal((10, 2)).astype(np.float32)
    made = extended(np.vstack(groups), np.arange(10), known, context, k=4)
    assert made.stranded == 20
    assert not made.vectors[20:].any()
    assert made.vectors[:20].any(axis=1).all()


def test_equal_points_extend_to_equal_vectors(points, context):
    known = np.random.default_rng(6).standard_normal((30, 2)).astype(np.float32)
    made = extended(points, np.arange(30), known, context)
    np.testing.assert_allclose(made.vectors[50], made.vectors[51], atol=1e-3)


def test_frequent_landmarks_are_the_first(points, context):
    assert choose_landmarks(unit_rows(points), 9, "frequency", context).tolist() == list(range(9))


def test_random_landmarks_are_distinct_rows(points, context):
    rows = choose_landmarks(unit_rows(points), 30, "random", context)
    assert (np.diff(rows) > 0).all()
    assert rows.max() > 40


def test_each_farthest_landmark_has_the_lowest_cosine_to_those_before(points, context):
    units = unit_rows(points)
    cosines = units.astype(float) @ units.T
    chosen = [0]
    while len(chosen) < 12:
        nearest = cosines[:, chosen].max(axis=1)
        nearest[chosen] = np.inf
        chosen.append(int(nearest.argmin()))
    found = choose_landmarks(units, 12, "farthest", context)
    assert found.tolist() == sorted(chosen)
