"""Weights: optimal, without rounding, and finite for copies, ties and dependent vectors."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from contexts import context_of
from hypothesis import given
from hypothesis import strategies as st
from matrices import to_dense
from scipy.optimize import nnls

from wordgeom.imputation import least_norm
from wordgeom.imputation import weights as module
from wordgeom.imputation.graph import Graph
from wordgeom.imputation.weights import fit_weights, reconstruction_errors
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress


@pytest.fixture(scope="module")
def pool():
    with Pool(2) as pool:
        yield pool


def graph_of(neighbours):
    """A graph from lists of in-neighbours."""
    indptr = np.concatenate(([0], np.cumsum([len(line) for line in neighbours])))
    indices = np.concatenate([np.sort(line) for line in neighbours]).astype(np.int32)
    return Graph(indptr.astype(np.int64), indices, np.zeros(len(indices), np.uint8))


def random_graph(n, k, seed):
    rng = np.random.default_rng(seed)
    others = [np.delete(np.arange(n), i) for i in range(n)]
    return graph_of([rng.choice(line, k, replace=False) for line in others])


def fit(pool, points, graph, kind="simplex", epsilon=0.0, rows=None):
    rows = np.arange(len(points)) if rows is None else rows
    return fit_weights(points, graph, rows, kind, epsilon, context_of(pool))


def errors_of(pool, points, found):
    return reconstruction_errors(points, found.matrix, np.arange(len(points)), pool)


def rows_of(graph, found):
    """(neighbours, weights) of each entity."""
    for i, (start, stop) in enumerate(pairwise(graph.indptr)):
        yield i, graph.indices[start:stop], found.matrix.data[start:stop]


def problem(pool, vectors, target, kind):
    """Weights of the vectors (k × m) as neighbours of the target (m)."""
    k = len(vectors)
    graph = graph_of([np.arange(1, k + 1)] + [[0]] * k)
    points = np.vstack((target, vectors)).astype(float)
    found = fit(pool, points, graph, kind, rows=np.array([0]))
    assert found.unconverged == 0
    w = found.matrix.data
    assert np.all(w >= 0)
    assert abs(w.sum() - 1) < 1e-14
    return w, bool(found.equal)


def assert_simplex_optimal(vectors, target, w):
    """Moving weight to neighbour j changes the squared error by 2 (slope_j − mean slope)."""
    slopes = (vectors - target) @ (w @ vectors - target)
    scale = 1e-11 * (1 + np.abs(vectors).max() + np.abs(target).max()) ** 2
    assert slopes.min() >= w @ slopes - scale
    assert np.all(np.abs(slopes[w > 0] - w @ slopes) <= scale)


def assert_nnls_optimal(vectors, target, w, zero):
    """No slope upwards anywhere, none at all where a weight is above 0."""
    mean = w @ vectors
    # The sum before normalising; any sum is right for neighbours at the origin, like the target.
    size = 0.0 if zero or not mean.any() else (mean @ target) / (mean @ mean)
    slopes = vectors @ (target - size * mean)
    scale = 1e-11 * (1 + np.linalg.norm(vectors, axis=1)) * (1 + np.linalg.norm(target))
    assert np.all(slopes <= (1 + size) * scale)
    if not zero:
        assert np.all(np.abs(slopes[w > 0]) <= (1 + size) * scale[w > 0])


@pytest.mark.parametrize(("k", "m"), [(1, 1), (8, 20), (20, 8), (40, 40), (200, 12)])
def test_weights_of_random_vectors_are_optimal(pool, k, m):
    rng = np.random.default_rng(k)
    for _ in range(20):
        vectors, target = rng.standard_normal((k, m)) + 0.3, rng.standard_normal(m)
        assert_simplex_optimal(vectors, target, problem(pool, vectors, target, "simplex")[0])
        assert_nnls_optimal(vectors, target, *problem(pool, vectors, target, "nnls"))


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_weights_are_optimal_with_ties_copies_and_dependent_vectors(pool, k, m, seed):
    rng = np.random.default_rng(seed)
    vectors, target = (rng.integers(-2, 3, size).astype(float) for size in ((k, m), m))
    assert_simplex_optimal(vectors, target, problem(pool, vectors, target, "simplex")[0])
    assert_nnls_optimal(vectors, target, *problem(pool, vectors, target, "nnls"))


@given(st.integers(1, 9), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_no_weight_is_rounding_of_0(pool, k, m, seed):
    rng = np.random.default_rng(seed)
    vectors, target = (rng.integers(-2, 3, size).astype(float) for size in ((k, m), m))
    for kind in ("simplex", "nnls"):
        w, _ = problem(pool, vectors, target, kind)
        assert w[w > 0].min() > 1e-6


def test_weights_of_vectors_that_point_away_are_0(pool):
    w, zero = problem(pool, [[-1.0, 0.0], [-1.0, -1.0]], [1.0, 0.0], "nnls")
    assert zero
    np.testing.assert_array_equal(w, 0.5)


@pytest.mark.parametrize("kind", ["simplex", "nnls"])
def test_a_vector_that_occurs_three_times_shares_its_weight(pool, kind):
    w, _ = problem(pool, [[1.0, 0.0]] * 3 + [[0.0, 1.0]], [2.0, 2.5], kind)
    np.testing.assert_allclose(w[:3], w[0], rtol=1e-9)
    expected = [0.25, 0.75] if kind == "simplex" else [2 / 4.5, 2.5 / 4.5]
    np.testing.assert_allclose([w[:3].sum(), w[3]], expected)


def test_neighbours_at_the_origin_get_equal_weights(pool):
    w, zero = problem(pool, np.zeros((3, 2)), [1.0, 2.0], "nnls")
    assert zero
    np.testing.assert_array_equal(w, 1 / 3)


def test_weights_that_are_not_unique_have_the_least_norm(pool):
    # 0 is the mean of four corners, of two pairs of them, and of anything in between.
    corners = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    w, _ = problem(pool, corners, [0.0, 0.0], "simplex")
    np.testing.assert_allclose(w, 0.25, rtol=1e-9)
    line = np.array([[-1.0], [1.0], [2.0]])
    w, _ = problem(pool, line, [0.0], "simplex")
    np.testing.assert_allclose(w @ line[:, 0], 0.0, atol=1e-12)
    system = np.vstack((line[:, 0], np.ones(3)))
    np.testing.assert_allclose(w, np.linalg.pinv(system) @ [0.0, 1.0], rtol=1e-9)


@given(st.integers(2, 20), st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_the_order_of_neighbours_changes_no_weight(pool, k, m, seed):
    rng = np.random.default_rng(seed)
    vectors, target = (rng.integers(0, 3, size).astype(float) for size in ((k, m), m))
    order = rng.permutation(k)
    for kind in ("simplex", "nnls"):
        w, _ = problem(pool, vectors, target, kind)
        np.testing.assert_allclose(problem(pool, vectors[order], target, kind)[0], w[order],
                                   atol=1e-7)  # fmt: skip


def test_weights_that_scipy_does_not_minimise_are_improved(pool):
    rng = np.random.default_rng(0)
    for _ in range(300):  # about 2 % of such rows in SciPy 1.17
        vectors = (rng.random((20, 12)) < 0.3).astype(float)
        target = (rng.random(12) < 0.3).astype(float)
        assert_simplex_optimal(vectors, target, problem(pool, vectors, target, "simplex")[0])


@pytest.mark.parametrize("scale", [1e-100, 1e-8, 1e8, 1e100])
@pytest.mark.parametrize("kind", ["simplex", "nnls"])
def test_weights_do_not_depend_on_the_scale(pool, kind, scale):
    rng = np.random.default_rng(3)
    vectors, target = rng.standard_normal((8, 30)), rng.standard_normal(30)
    scaled, _ = problem(pool, scale * vectors, scale * target, kind)
    np.testing.assert_allclose(scaled, problem(pool, vectors, target, kind)[0], rtol=1e-9)


@pytest.mark.parametrize(("k", "d"), [(8, 30), (8, 3), (1, 5), (40, 6)])
def test_simplex_weights_are_optimal_and_no_worse_than_normalised_nnls(pool, k, d):
    rng = np.random.default_rng(k)
    points, graph = rng.standard_normal((120, d)) + 1.0, random_graph(120, k, 1)
    found, other = fit(pool, points, graph), fit(pool, points, graph, "nnls")
    assert found.unconverged == 0
    errors, worse = errors_of(pool, points, found), errors_of(pool, points, other)
    assert np.all(errors <= worse + 1e-12 * np.linalg.norm(points, axis=1))
    for i, near, w in rows_of(graph, found):
        assert_simplex_optimal(points[near], points[i], w)
        np.testing.assert_allclose(
            errors[i], np.linalg.norm(points[i] - w @ points[near]), atol=1e-13
        )


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_epsilon_raises_every_weight_by_a_share_of_the_smallest(pool, epsilon):
    rng = np.random.default_rng(2)
    points, graph = rng.standard_normal((80, 20)) + 0.2, random_graph(80, 6, 2)
    for i, near, w in rows_of(graph, fit(pool, points, graph, "nnls", epsilon)):
        expected = nnls(points[near].T, points[i])[0]
        expected = expected + epsilon * expected[expected > 0].min() if expected.any() else 1.0
        expected = np.broadcast_to(expected, len(near))
        np.testing.assert_allclose(w, expected / expected.sum(), atol=1e-10)


@pytest.mark.parametrize("kind", ["simplex", "nnls"])
def test_entities_without_neighbours_disturb_no_others(pool, kind):
    points = np.random.default_rng(4).standard_normal((9, 3)) + 1.0
    lines = [[], [], [3, 4, 5], [], [0, 1, 2, 3], [8], [], [1, 2], []]
    found = fit(pool, points, graph_of(lines), kind, 0.1)
    assert found.matrix.nnz == sum(map(len, lines))
    errors = errors_of(pool, points, found)
    for i, line in enumerate(lines):
        if line:
            alone, _ = problem(pool, points[line], points[i], kind)
            alone = alone + 0.1 * alone[alone > 0].min()
            own = found.matrix.data[slice(*found.matrix.indptr[i : i + 2])]
            np.testing.assert_allclose(own, alone / alone.sum(), rtol=1e-12)
            np.testing.assert_allclose(errors[i], np.linalg.norm(points[i] - own @ points[line]))
        else:
            assert errors[i] == 0
    assert fit(pool, points, graph_of([[]] * 9), kind).equal == 9


def test_weights_that_do_not_converge_become_equal_and_are_counted(pool, monkeypatch):
    def failing(vectors, target, maxiter):
        if target[0] == 0.5:
            raise RuntimeError("Maximum number of iterations reached.")
        return nnls(vectors, target, maxiter=maxiter)

    def stuck(rows, wrong, vectors, targets, indptr, weights):
        for row in rows:
            weights[indptr[row] : indptr[row + 1]] = 0.0
        return len(rows)

    monkeypatch.setattr("scipy.optimize.nnls", failing)
    monkeypatch.setattr(least_norm, "make_least", stuck)
    points = np.array([[0.5, 1.0], [1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
    found = fit(pool, points, graph_of([[1, 2], [0], [0, 1], [1]]), "nnls")
    assert (found.equal, found.unconverged) == (1, 1)
    np.testing.assert_allclose(found.matrix.data, [0.5, 0.5, 1.0, 1.0, 0.0, 1.0])


def test_simplex_weights_do_not_depend_on_the_origin_and_nnls_weights_do(pool):
    points, graph = np.random.default_rng(3).standard_normal((50, 12)), random_graph(50, 6, 3)
    moved = points + 3.0
    near, far = fit(pool, points, graph), fit(pool, moved, graph)
    np.testing.assert_allclose(near.matrix.data, far.matrix.data, atol=1e-9)
    near, far = fit(pool, points, graph, "nnls"), fit(pool, moved, graph, "nnls")
    assert np.abs(near.matrix.data - far.matrix.data).max() > 0.1


def test_a_point_inside_its_neighbours_is_reconstructed_and_one_outside_projected(pool):
    corners = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    points = np.vstack((corners, [[1.0, 2.0], [2.0, -5.0]]))
    graph = graph_of([[1], [0], [0], [0, 1, 2], [0, 1, 2]])
    found = fit(pool, points, graph)
    np.testing.assert_allclose(found.matrix.data[3:], [0.25, 0.25, 0.5, 0.5, 0.5, 0.0], atol=1e-14)
    np.testing.assert_allclose(errors_of(pool, points, found)[3:], [0.0, 5.0], atol=1e-14)


@pytest.mark.parametrize("kind", ["simplex", "nnls"])
def test_identical_neighbours_get_all_weight(pool, kind):
    points = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [5.0, -1.0], [2.0, 0.0]])
    found = fit(pool, points, graph_of([[1, 2, 3, 4], [0], [0], [0], [0]]), kind)
    row = found.matrix.data[:4]
    np.testing.assert_allclose(row[:2].sum(), 1.0, atol=1e-14)
    assert not row[2:].any()
    assert errors_of(pool, points, found)[0] < 1e-14


def test_zero_weights_become_equal_and_are_counted(pool):
    points = np.array([[1.0, 0.0], [-1.0, 0.0], [-2.0, -1.0]])
    graph = graph_of([[1, 2], [0], [0]])
    assert fit(pool, points, graph, "nnls", 0.1).equal == 3
    np.testing.assert_array_equal(fit(pool, points, graph, "nnls").matrix.data[:2], 0.5)
    same = fit(pool, np.ones((3, 2)), graph)  # all entities alike: any weights are right
    np.testing.assert_array_equal(same.matrix.data[:2], 0.5)
    np.testing.assert_array_equal(errors_of(pool, np.ones((3, 2)), same), 0.0)


def test_a_hub_of_hundreds_of_neighbours_is_solved(pool):
    points = np.random.default_rng(5).standard_normal((700, 10))
    points[0] = 0.0
    found = fit(pool, points, graph_of([np.arange(1, 700)] + [[0]] * 699), rows=np.array([0]))
    assert (found.unconverged, found.matrix.rows, found.matrix.columns) == (0, 1, 700)
    assert reconstruction_errors(points, found.matrix, np.array([0]), pool)[0] < 1e-10


def test_a_subset_of_rows_has_the_same_bytes_at_any_thread_count(pool, monkeypatch):
    points, graph = np.random.default_rng(6).standard_normal((90, 7)), random_graph(90, 5, 6)
    whole = fit(pool, points, graph)
    monkeypatch.setattr(module, "_ROWS", 4)
    monkeypatch.setattr(module, "_GATHERED", 3)
    rows = np.arange(3, 90, 4)
    with Pool(1) as single:
        part = fit(single, points, graph, rows=rows)
    assert to_dense(part.matrix).tobytes() == to_dense(whole.matrix)[rows].tobytes()
    errors = reconstruction_errors(points, part.matrix, rows, pool)
    assert errors.tobytes() == errors_of(pool, points, whole)[rows].tobytes()


def test_progress_ends_at_the_number_of_rows(pool):
    seen = []

    class Shown(Progress):
        def follow(self, items, label, total, unit, size, done=0):
            for item in items:
                seen.append((size(item), total))
                yield item

    graph = random_graph(600, 4, 1)
    points = np.random.default_rng(1).standard_normal((600, 3))
    context = replace(context_of(pool), progress=Shown())
    fit_weights(points, graph, np.arange(600), "simplex", 0.0, context)
    assert len(seen) > 1
    assert sum(size for size, _ in seen) == seen[0][1] == 600
