"""Weights: optimal on the simplex, equal to SciPy's NNLS, and always finite."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from contexts import context_of
from matrices import to_dense
from scipy.optimize import nnls

from wordgeom.imputation import weights as module
from wordgeom.imputation.graph import Graph
from wordgeom.imputation.weights import fit_weights, reconstruction_errors
from wordgeom.runtime.pool import Pool


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


def rows_of(graph, found):
    """(neighbours, weights) of each entity."""
    for i, (start, stop) in enumerate(pairwise(graph.indptr)):
        yield i, graph.indices[start:stop], found.matrix.data[start:stop]


@pytest.mark.parametrize(("k", "d"), [(8, 30), (8, 3), (1, 5), (40, 6)])
def test_simplex_weights_are_optimal_and_no_worse_than_normalised_nnls(pool, k, d):
    rng = np.random.default_rng(k)
    points, graph = rng.standard_normal((120, d)) + 1.0, random_graph(120, k, 1)
    found, other = fit(pool, points, graph), fit(pool, points, graph, "nnls")
    assert found.unconverged == 0
    scale = np.linalg.norm(points, axis=1)
    assert np.all(found.errors <= other.errors + 1e-12 * scale)
    for i, near, w in rows_of(graph, found):
        assert abs(w.sum() - 1) < 1e-14
        assert np.all(w >= 0)
        # Moving weight to neighbour j changes the squared error by 2 (slope_j − mean slope).
        slopes = (points[near] - points[i]) @ (w @ points[near] - points[i])
        assert slopes.min() >= w @ slopes - 1e-10
        np.testing.assert_allclose(
            found.errors[i], np.linalg.norm(points[i] - w @ points[near]), atol=1e-13
        )


@pytest.mark.parametrize("epsilon", [0.0, 0.1])
def test_nnls_weights_match_scipy(pool, epsilon):
    rng = np.random.default_rng(2)
    points, graph = rng.standard_normal((80, 20)) + 0.2, random_graph(80, 6, 2)
    for i, near, w in rows_of(graph, fit(pool, points, graph, "nnls", epsilon)):
        expected = nnls(points[near].T, points[i])[0]
        expected = expected + epsilon * expected[expected > 0].min() if expected.any() else 1.0
        expected = np.broadcast_to(expected, len(near))
        np.testing.assert_allclose(w, expected / expected.sum(), atol=1e-10)


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
    np.testing.assert_allclose(found.errors[3:], [0.0, 5.0], atol=1e-14)


@pytest.mark.parametrize("kind", ["simplex", "nnls"])
def test_identical_neighbours_get_all_weight(pool, kind):
    points = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [5.0, -1.0], [2.0, 0.0]])
    found = fit(pool, points, graph_of([[1, 2, 3, 4], [0], [0], [0], [0]]), kind)
    row = found.matrix.data[:4]
    np.testing.assert_allclose(row[:2].sum(), 1.0, atol=1e-14)
    assert not row[2:].any()
    assert found.errors[0] < 1e-14


def test_zero_weights_become_equal_and_are_counted(pool):
    points = np.array([[1.0, 0.0], [-1.0, 0.0], [-2.0, -1.0]])
    graph = graph_of([[1, 2], [0], [0]])
    assert fit(pool, points, graph, "nnls", 0.1).equal == 3
    np.testing.assert_array_equal(fit(pool, points, graph, "nnls").matrix.data[:2], 0.5)
    same = fit(pool, np.ones((3, 2)), graph)  # all entities alike: any weights are right
    np.testing.assert_array_equal(same.matrix.data[:2], 0.5)
    np.testing.assert_array_equal(same.errors, 0.0)


def test_a_hub_of_hundreds_of_neighbours_is_solved(pool):
    points = np.random.default_rng(5).standard_normal((700, 10))
    points[0] = 0.0
    found = fit(pool, points, graph_of([np.arange(1, 700)] + [[0]] * 699), rows=np.array([0]))
    assert (found.unconverged, found.matrix.rows, found.matrix.columns) == (0, 1, 700)
    assert found.errors[0] < 1e-12
    assert np.count_nonzero(found.matrix.data) <= 11  # Carathéodory


def test_a_subset_of_rows_has_the_same_bytes_at_any_thread_count(pool, monkeypatch):
    points, graph = np.random.default_rng(6).standard_normal((90, 7)), random_graph(90, 5, 6)
    whole = fit(pool, points, graph)
    monkeypatch.setattr(module, "_ROWS", 4)
    rows = np.arange(3, 90, 4)
    with Pool(1) as single:
        part = fit(single, points, graph, rows=rows)
    assert to_dense(part.matrix).tobytes() == to_dense(whole.matrix)[rows].tobytes()
    assert part.errors.tobytes() == whole.errors[rows].tobytes()
    again = reconstruction_errors(points, part.matrix, rows, pool)
    assert again.tobytes() == part.errors.tobytes()
