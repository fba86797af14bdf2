"""The solvers: closed forms, dense NumPy, convex hulls, hard cases, power iteration."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from matrices import to_csr

from wordgeom.imputation import exact_solver
from wordgeom.imputation.exact_solver import ExactSolver
from wordgeom.imputation.linear_system import System
from wordgeom.imputation.solve import solve_exact, solve_power
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress


@pytest.fixture(scope="module")
def pool():
    with Pool(2) as pool:
        yield pool


@pytest.fixture(params=["lu", "bicgstab"])
def solver(request, monkeypatch):
    """Each of the two solvers, for systems of any size."""
    monkeypatch.setattr(exact_solver, "_DIRECT", 10_000 if request.param == "lu" else 0)
    return request.param


def random_weights(n, k, seed, known=0.3):
    """Dense (n × n) weights of k random neighbours and the next entity, and a mask of the known."""
    rng = np.random.default_rng(seed)
    full = np.zeros((n, n))
    full[np.arange(n).repeat(k), rng.integers(n, size=n * k)] = rng.random(n * k)
    full[np.arange(n), (np.arange(n) + 1) % n] += 0.1  # connects everyone to every anchor
    np.fill_diagonal(full, 0.0)
    mask = rng.random(n) < known
    mask[0], mask[1] = True, False
    return full / full.sum(axis=1, keepdims=True), mask


def path(n, ends):
    """The random walk on a path, with anchors at its ends."""
    full = np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1)
    known = np.zeros(n, bool)
    known[list(ends)] = True
    return full / full.sum(axis=1, keepdims=True), known


def clusters(count, size, leak, seed):
    """Clusters connected by weights of `leak`; all anchors are in the first."""
    rng = np.random.default_rng(seed)
    n = count * size
    full = np.kron(np.eye(count), np.ones((size, size))) * rng.random((n, n))
    np.fill_diagonal(full, 0.0)
    for c in range(1, count):
        a, b = c * size, rng.integers(c) * size + 1
        full[a, b] = full[b, a] = leak * size
    return full / full.sum(axis=1, keepdims=True), np.arange(n) < 3


def solve(pool, full, known, anchors):
    return solve_exact(to_csr(full[~known]), known, np.asarray(anchors, float), pool, Progress())


def dense(full, known, anchors):
    inner = np.eye((~known).sum()) - full[~known][:, ~known]
    return np.linalg.solve(inner, full[~known][:, known] @ anchors)


@pytest.mark.parametrize(("n", "K"), [(2, 1), (3, 9), (60, 8), (400, 20)])
def test_vectors_solve_the_equations_and_lie_between_the_anchors(pool, solver, n, K):
    full, known = random_weights(n, 3, n)
    anchors = np.random.default_rng(n).standard_normal((known.sum(), K))
    found = solve(pool, full, known, anchors)
    np.testing.assert_allclose(found.vectors, dense(full, known, anchors), atol=1e-9)
    assert (found.solver, found.converged) == (solver, True)
    assert found.residual <= 1e-12
    assert np.all(found.vectors <= anchors.max(axis=0) + 1e-9)
    assert np.all(found.vectors >= anchors.min(axis=0) - 1e-9)


@pytest.mark.usefixtures("solver")
def test_rotated_anchors_rotate_the_vectors(pool):
    full, known = random_weights(150, 4, 1)
    rng = np.random.default_rng(1)
    anchors, turn = rng.standard_normal((known.sum(), 12)), np.linalg.qr(rng.random((12, 12)))[0]
    straight, turned = (solve(pool, full, known, Y).vectors for Y in (anchors, anchors @ turn))
    np.testing.assert_allclose(straight @ turn, turned, atol=1e-9)


@pytest.mark.usefixtures("solver")
def test_one_anchor_gives_all_its_vector(pool):
    full, _ = random_weights(300, 4, 2)
    known = np.arange(300) == 7
    anchor = np.random.default_rng(2).standard_normal((1, 11))
    found = solve(pool, full, known, anchor)
    np.testing.assert_allclose(found.vectors, np.tile(anchor, (299, 1)), rtol=1e-13)


@pytest.mark.usefixtures("solver")
def test_a_path_is_interpolated_between_its_ends(pool):
    n = 1500  # condition 10⁶
    full, known = path(n, (0, n - 1))
    found = solve(pool, full, known, [[0.0, 1.0, 5.0], [1.0, 1.0, -3.0]])
    along = np.arange(1, n - 1)[:, None] / (n - 1)
    expected = np.array([0.0, 1.0, 5.0]) + along * [1.0, 0.0, -8.0]
    assert found.converged
    np.testing.assert_allclose(found.vectors, expected, atol=1e-9)
    full, known = path(n, (0,))
    one_end = solve(pool, full, known, [[2.0, -1.0]])
    np.testing.assert_allclose(one_end.vectors, np.tile([2.0, -1.0], (n - 1, 1)), rtol=1e-9)


@pytest.mark.usefixtures("solver")
def test_one_unknown_is_the_weighted_mean(pool):
    full, _ = random_weights(30, 5, 3)
    known = np.arange(30) != 12
    anchors = np.random.default_rng(3).standard_normal((29, 4))
    found = solve(pool, full, known, anchors)
    np.testing.assert_allclose(found.vectors, full[[12]][:, known] @ anchors, atol=1e-14)


@pytest.mark.usefixtures("solver")
def test_constant_and_unused_columns_are_exact(pool):
    full, known = random_weights(200, 4, 4)
    full[~known, 0] = 0.0  # the first anchor has no weight
    full /= full.sum(axis=1, keepdims=True)
    anchors = np.zeros((known.sum(), 3))
    anchors[:, 1], anchors[0, 2] = 7.0, 1e6
    found = solve(pool, full, known, anchors)
    assert found.converged
    np.testing.assert_array_equal(found.vectors[:, [0, 2]], 0.0)
    np.testing.assert_allclose(found.vectors[:, 1], 7.0, rtol=1e-12)


@pytest.mark.parametrize("leak", [1e-1, 1e-3, 1e-5])
@pytest.mark.usefixtures("solver")
def test_weakly_connected_clusters_converge(pool, leak):
    full, known = clusters(12, 25, leak, 5)
    anchors = np.random.default_rng(5).standard_normal((3, 6))
    found = solve(pool, full, known, anchors)
    assert found.converged
    np.testing.assert_allclose(found.vectors, dense(full, known, anchors), atol=1e-4)


def test_columns_resume_with_closer_factors_and_at_last_with_complete_ones(pool, monkeypatch):
    monkeypatch.setattr(exact_solver, "_DIRECT", 0)
    monkeypatch.setattr(exact_solver, "_DROPPED", {5e-2: 2, 1e-2: 2, 1e-3: 2})
    full, known = random_weights(120, 4, 6)
    anchors = np.random.default_rng(6).standard_normal((known.sum(), 20))
    exact = dense(full, known, anchors)
    found = solve(pool, full, known, anchors)
    assert (found.solver, found.converged) == ("bicgstab", True)
    assert 2 < found.iterations <= 6  # at least two sets of factors
    np.testing.assert_allclose(found.vectors, exact, atol=1e-9)
    monkeypatch.setattr(exact_solver, "_DROPPED", {0.5: 2})
    found = solve(pool, full, known, anchors)
    assert (found.solver, found.converged, found.iterations) == ("lu", True, 2)
    np.testing.assert_allclose(found.vectors, exact, atol=1e-12)
    monkeypatch.setattr(exact_solver, "_LAST_RESORT", 0)
    missed = solve(pool, full, known, anchors)
    assert (missed.solver, missed.converged, missed.iterations) == ("bicgstab", False, 2)
    assert 1e-10 < missed.residual < 1


def test_columns_of_any_scale_converge_together(pool, solver):
    full, known = random_weights(150, 4, 7)
    scale = 10.0 ** np.arange(-150, 150, 20)
    anchors = np.random.default_rng(7).standard_normal((known.sum(), len(scale))) * scale
    found = solve(pool, full, known, anchors)
    assert (found.solver, found.converged) == (solver, True)
    np.testing.assert_allclose(
        found.vectors / scale, dense(full, known, anchors / scale), atol=1e-9
    )


@pytest.mark.usefixtures("solver")
def test_bytes_do_not_depend_on_threads(pool, monkeypatch):
    full, known = random_weights(300, 5, 8)
    anchors = np.random.default_rng(8).standard_normal((known.sum(), 50))
    first = solve(pool, full, known, anchors)
    monkeypatch.setattr(exact_solver, "_WORK", 1)  # one group ahead
    with Pool(1) as single:
        second = solve(single, full, known, anchors)
    assert first.vectors.tobytes() == second.vectors.tobytes()
    assert (first.residual, first.iterations) == (second.residual, second.iterations)


def test_stopping_ends_the_groups_in_progress(monkeypatch):
    monkeypatch.setattr(exact_solver, "_DIRECT", 0)
    monkeypatch.setattr(exact_solver, "_WIDTH", 1)
    full, known = random_weights(300, 5, 9)
    anchors = np.random.default_rng(9).standard_normal((known.sum(), 6))
    system = System.of(to_csr(full[~known]), known)
    exact = ExactSolver(system, anchors)
    with Pool(1) as single:
        columns: Any = exact.solve(single)
        next(columns)
        columns.close()  # as Ctrl-C does
    assert np.isinf(exact.residuals[-1])
    assert exact.residuals[0] < 1e-10


def power(pool, full, known, anchors, eta, most=5000):
    return solve_power(to_csr(full[~known]), known, anchors, eta, most, pool, Progress())


def test_power_iterations_converge_monotonically(pool):
    full, known = random_weights(200, 4, 9)
    anchors = np.random.default_rng(9).standard_normal((known.sum(), 40))
    goal = dense(full, known, anchors)
    results = [power(pool, full, known, anchors, 0.0, most) for most in range(1, 30, 4)]
    errors = [np.abs(result.vectors - goal).max() for result in results]  # W_qq shrinks the maximum
    assert all(after < before for before, after in pairwise(errors))
    assert [result.iterations for result in results] == list(range(1, 30, 4))
    assert not any(result.converged for result in results)
    last = power(pool, full, known, anchors, 1e-13)
    assert last.converged
    assert max(last.change, last.residual) < 1e-11
    np.testing.assert_allclose(last.vectors, goal, atol=1e-10)


def test_power_stops_early_on_a_path_and_reports_the_residual(pool):
    full, known = path(400, (0, 399))
    anchors = np.array([[0.0], [1.0]])
    found = power(pool, full, known, anchors, 1e-2)
    assert found.converged
    assert found.iterations < 10
    assert found.residual > 0.05
    assert np.abs(found.vectors - dense(full, known, anchors)).max() > 0.4


def test_power_of_zero_anchors_is_0(pool):
    full, known = random_weights(50, 3, 10)
    found = power(pool, full, known, np.zeros((known.sum(), 2)), 1e-2)
    assert (found.iterations, found.change, found.residual, found.converged) == (1, 0.0, 0.0, True)
    assert not found.vectors.any()
