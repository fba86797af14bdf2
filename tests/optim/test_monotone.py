"""Monotone fits against pooling by brute force; conjugate gradients; schedules and stops."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.optim.conjugate_gradients import solve
from wordgeom.optim.monotone import monotone_fit
from wordgeom.optim.schedules import inverse_time
from wordgeom.optim.stopping import settled


def brute_force(values, groups, weights, ascending):
    """The best of all ways to cut the groups into runs of one value, their weighted mean."""
    m, best, squares = int(groups.max()) + 1, None, np.inf
    for number in range(m):
        for cuts in combinations(range(1, m), number):
            run = np.searchsorted(cuts, groups, side="right")
            means = np.bincount(run, weights * values) / np.bincount(run, weights)
            rising = np.diff(means) if ascending else -np.diff(means)
            error = float(weights @ (values - means[run]) ** 2)
            if (rising >= -1e-12).all() and error < squares:
                best, squares = means[run], error
    return best


@given(
    st.lists(st.tuples(st.integers(0, 4), st.floats(-5, 5), st.floats(0.1, 3)), min_size=1,
             max_size=9),
    st.booleans(),
)  # fmt: skip
def test_the_fit_is_that_of_pooling_by_brute_force(items, ascending):
    scores, values, weights = (np.array(column, float) for column in zip(*items, strict=True))
    groups = np.unique(scores, return_inverse=True)[1]
    fitted = monotone_fit(values, groups, weights, ascending=ascending)
    np.testing.assert_allclose(fitted, brute_force(values, groups, weights, ascending), atol=1e-9)


def test_ties_share_a_value_and_order_of_items_does_not_matter():
    rng = np.random.default_rng(4)
    values, groups, weights = rng.standard_normal(50), rng.integers(0, 6, 50), np.ones(50)
    fitted = monotone_fit(values, groups, weights)
    assert len(np.unique(fitted)) <= 6
    order = rng.permutation(50)
    np.testing.assert_allclose(monotone_fit(values[order], groups[order], weights), fitted[order])


@pytest.mark.parametrize("singular", [False, True])
def test_conjugate_gradients_lower_the_energy_with_each_step(singular):
    rng = np.random.default_rng(5)
    A = rng.standard_normal((20, 14 if singular else 30))
    H = A @ A.T
    b = H @ rng.standard_normal((20, 3))
    energies = []
    for most in range(41):
        x = solve(lambda v: H @ v, H.diagonal(), b, tol=1e-12, most=most)
        energies.append(0.5 * np.einsum("ij,ij->j", x, H @ x) - np.einsum("ij,ij->j", x, b))
    assert (np.diff(energies, axis=0) <= 1e-9).all()
    np.testing.assert_allclose(H @ x, b, atol=1e-8)


def test_conjugate_gradients_go_on_from_a_start():
    rng = np.random.default_rng(7)
    A = rng.standard_normal((40, 40))
    H, b = A @ A.T + np.eye(40), rng.standard_normal((40, 2))

    def found(most, start=None):
        return solve(lambda v: H @ v, H.diagonal(), b, tol=1e-10, most=most, start=start)

    solution = np.linalg.solve(H, b)
    near = solution + 1e-3 * rng.standard_normal((40, 2))
    kept = near.copy()
    np.testing.assert_allclose(found(500, near), solution, atol=1e-7)
    np.testing.assert_array_equal(near, kept)
    np.testing.assert_array_equal(found(0, near), near)
    errors = [np.linalg.norm(found(10, start) - solution) for start in (near, None)]
    assert errors[0] < 0.1 * errors[1]


def test_single_precision_solves_as_double_does():
    rng = np.random.default_rng(6)
    A = rng.standard_normal((20_000, 6))
    H, b = A.T @ A + np.eye(6), rng.standard_normal((6, 2))
    x = solve(lambda v: (H @ v).astype(np.float32), H.diagonal(), b.astype(np.float32), tol=1e-5,
              most=30)  # fmt: skip
    assert x.dtype == np.float32
    np.testing.assert_allclose(x, np.linalg.solve(H, b), rtol=1e-4, atol=1e-9)


def test_a_right_side_of_rounding_in_the_null_space_is_not_amplified():
    """Two separate pairs of points: each may move as a whole."""
    H = np.kron(np.eye(2), np.array([[1.3, -1.3], [-1.3, 1.3]]))
    noise = 1e-16 * np.array([[1.0], [3.0], [2.0], [2.0]])
    x = solve(lambda v: H @ v, H.diagonal(), noise, tol=1e-10, most=200)
    assert np.abs(x).max() < 1e-12


def test_rows_without_a_diagonal_stay_zero():
    H = np.diag([2.0, 0.0])
    x = solve(lambda v: H @ v, H.diagonal(), np.array([[4.0], [0.0]]), tol=1e-9, most=9)
    assert x.tolist() == [[2.0], [0.0]]


def test_a_schedule_falls_with_the_inverse_of_time():
    rate = inverse_time(0.3, 0.5)
    assert [rate(k) for k in (0, 2, 4)] == pytest.approx([0.3, 0.15, 0.1])
    assert inverse_time(0.3)(10**6) == 0.3


def test_a_run_has_settled_where_its_last_values_hardly_differ():
    assert settled([0.0] * 3, 0.1, 2)
    assert settled([9.0, 4.0, 3.9, 3.9], 0.03, 2)
    assert not settled([9.0, 4.0, 3.9, 3.9], 0.03, 3)
    assert not settled([4.0, 4.0], 0.5, 2)
    assert not settled([4.0] * 9, 0.0, 2)
    assert not settled([], 0.5, 2)
