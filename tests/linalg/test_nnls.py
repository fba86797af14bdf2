"""Non-negative least squares against SciPy, an optimum's conditions, and degenerate vectors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import nnls

from wordgeom.linalg.nnls_kernels import solve_nnls


def solve(vectors, target):
    weights = np.empty(len(vectors))
    assert solve_nnls(np.array(vectors, float), np.array(target, float), weights)
    return weights


def assert_optimal(vectors, target, weights):
    """Weights ≥ 0, no slope upwards anywhere, none at all where a weight is above 0."""
    slopes = vectors @ (target - weights @ vectors)
    scale = 1e-11 * (1 + np.linalg.norm(vectors, axis=1)) * (1 + np.linalg.norm(target))
    scale *= 1 + weights.sum()
    assert np.all(weights >= 0)
    assert np.all(slopes <= scale)
    assert np.all(np.abs(slopes[weights > 0]) <= scale[weights > 0])


@pytest.mark.parametrize(("k", "m"), [(1, 1), (8, 20), (20, 8), (40, 40), (200, 12)])
def test_weights_are_those_of_scipy(k, m):
    rng = np.random.default_rng(k)
    for _ in range(20):
        vectors, target = rng.standard_normal((k, m)) + 0.3, rng.standard_normal(m)
        weights = solve(vectors, target)
        assert_optimal(vectors, target, weights)
        error = np.linalg.norm(target - weights @ vectors)
        np.testing.assert_allclose(error, nnls(vectors.T, target)[1], rtol=1e-10, atol=1e-12)
        if k <= m:  # else more than one set of weights may be best
            np.testing.assert_allclose(weights, nnls(vectors.T, target)[0], atol=1e-9)


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_integers_with_many_ties_and_dependent_vectors(k, m, seed):
    rng = np.random.default_rng(seed)
    vectors, target = (
        rng.integers(-2, 3, (k, m)).astype(float),
        rng.integers(-2, 3, m).astype(float),
    )
    assert_optimal(vectors, target, solve(vectors, target))


def test_vectors_that_point_away_get_exactly_0():
    assert not solve([[-1.0, 0.0], [-1.0, -1.0]], [1.0, 0.0]).any()


def test_a_vector_that_occurs_twice_is_used_once():
    np.testing.assert_allclose(solve([[1.0, 0.0]] * 3 + [[0.0, 1.0]], [2.0, 3.0]), [2, 0, 0, 3])


def test_zero_vectors_and_a_zero_target_give_0():
    assert not solve(np.zeros((3, 4)), np.ones(4)).any()
    assert not solve(np.ones((3, 4)), np.zeros(4)).any()


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8, 1e100])
def test_weights_do_not_depend_on_the_scale(scale):
    rng = np.random.default_rng(3)
    vectors, target = rng.standard_normal((8, 30)), rng.standard_normal(30)
    np.testing.assert_allclose(
        solve(scale * vectors, scale * target), solve(vectors, target), rtol=1e-9
    )
