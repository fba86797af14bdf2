"""Nearest neighbours: those of float64 by brute force, whatever the blocks, ties or threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from points import brute, surface

from wordgeom.linalg import cell_index, exact_search, nearest_neighbours
from wordgeom.linalg.exact_search import Searcher
from wordgeom.linalg.nearest_neighbours import EXACT, nearest, nearest_to
from wordgeom.runtime.pool import Pool


def ranked(squared, k):
    """Return the k nearest by distance, then index."""
    return np.argsort(squared, axis=1, kind="stable")[:, :k]


@settings(max_examples=40, deadline=None)
@given(
    n=st.integers(2, 60), d=st.integers(1, 9), k=st.integers(1, 8), seed=st.integers(0, 999),
    shift=st.sampled_from([0.0, 1e6]), scale=st.sampled_from([1.0, 2.0**-465, 2.0**465]),
)  # fmt: skip
def test_ties_go_by_index_at_any_scale(n, d, k, seed, shift, scale):
    points = (np.random.default_rng(seed).integers(0, 3, (n, d)) + shift) * scale
    k = min(k, n - 1)
    with Pool(2) as pool:
        found = nearest(points, k, pool)
    whole = points / scale - shift
    assert (found.indices == ranked(brute(whole), k)).all()
    assert found.exact
    assert found.recall == 1.0


def test_distances_that_float32_cannot_distinguish_are_ordered():
    # Neighbours differ in the ninth digit: far below float32's seven.
    rng = np.random.default_rng(1)
    points = np.ones((300, 5)) + rng.permutation(300)[:, None] * 1e-9 + np.eye(300, 5) * 1e-10
    points[0] = 2.0
    with Pool(1) as pool:
        found = nearest(points, 4, pool)
    expected = brute(points)
    assert np.allclose(found.squared, np.sort(expected, axis=1)[:, :4], rtol=1e-12, atol=0)


def test_blocks_and_threads_change_no_byte(monkeypatch):
    points = np.random.default_rng(2).standard_normal((1500, 7))
    with Pool(1) as pool:
        one = nearest(points, 6, pool)
    monkeypatch.setattr(exact_search, "_QUERIES", 100)
    monkeypatch.setattr(exact_search, "_TARGETS", 70)
    with Pool(3) as pool:
        other = nearest(points, 6, pool)
    assert one.indices.tobytes() == other.indices.tobytes()
    assert one.squared.tobytes() == other.squared.tobytes()
    assert (one.indices == ranked(brute(points), 6)).all()


def test_equal_points_are_neighbours_at_distance_0():
    points = np.zeros((700, 3))
    with Pool(2) as pool:
        found = nearest(points, 3, pool)
    assert (found.squared == 0).all()
    assert (found.indices[0] == [1, 2, 3]).all()
    assert (found.indices[500] == [0, 1, 2]).all()


def test_labels_and_bounds_narrow_a_search():
    rng = np.random.default_rng(3)
    points, labels = rng.standard_normal((200, 4)), rng.integers(0, 4, 200)
    queries, targets = np.arange(0, 200, 3), np.arange(0, 200, 2)
    squared = brute(points)
    squared[labels[:, None] == labels[None]] = np.inf
    squared[:, 1::2] = np.inf
    bound = np.full(len(queries), np.median(squared.min(axis=1)))
    with Pool(2) as pool:
        found, far = Searcher(points, pool).nearest(
            1, queries=queries, targets=targets, labels=labels, bounds=bound
        )
    best = squared[queries].min(axis=1)
    inside = best < bound
    assert 0 < inside.sum() < len(queries)
    assert (found[inside, 0] == squared[queries][inside].argmin(axis=1)).all()
    assert np.allclose(far[inside, 0], best[inside])
    assert (found[~inside] == -1).all()
    assert np.isinf(far[~inside]).all()


def test_the_nearest_anchor_is_another_one():
    points = np.array([[0.0], [1.0], [1.5], [9.0]])
    with Pool(1) as pool:
        found, squared = nearest_to(points, np.arange(4), np.array([1, 3]), pool)
        alone, none = nearest_to(points, np.array([3]), np.array([3]), pool)
    assert found.tolist() == [1, 3, 1, 1]
    assert squared.tolist() == [1.0, 64.0, 0.25, 64.0]
    assert alone.tolist() == [-1]
    assert np.isinf(none[0])


def test_an_index_has_the_recall_that_it_reports(monkeypatch):
    monkeypatch.setattr(nearest_neighbours, "EXACT_ROWS", 1000)
    points = surface(6000)
    with Pool(2) as pool:
        found, true = nearest(points, 5, pool), nearest(points, 5, pool, how=EXACT)
    hits = [len(np.intersect1d(a, b)) for a, b in zip(found.indices, true.indices, strict=True)]
    assert not found.exact
    assert found.recall >= 0.97
    assert abs(np.mean(hits) / 5 - found.recall) < 0.01
    # What it found has the distances of float64, in order, and never a point itself.
    rows = np.arange(6000)[:, None]
    assert (found.indices != rows).all()
    apart = points[rows] - points[found.indices]
    assert np.allclose(found.squared, (apart * apart).sum(axis=2), rtol=1e-12)
    assert (np.diff(found.squared, axis=1) >= 0).all()


def test_recall_counts_tied_neighbours_alike(monkeypatch):
    monkeypatch.setattr(nearest_neighbours, "EXACT_ROWS", 1000)
    points = np.repeat(surface(200), 30, axis=0)  # each point 30 times, 29 others at distance 0
    with Pool(2) as pool:
        found = nearest(points, 5, pool)
    assert not found.exact
    assert found.squared.max() == 0.0
    assert found.recall == 1.0


def test_an_index_gives_the_same_bytes_at_any_number_of_threads(monkeypatch):
    monkeypatch.setattr(nearest_neighbours, "EXACT_ROWS", 1000)
    monkeypatch.setattr(cell_index, "_ROWS", 512)
    points = surface(5000, seed=4)
    made = []
    for threads in (1, 3):
        with Pool(threads) as pool:
            made.append(nearest(points, 4, pool))
    assert not made[0].exact
    assert made[0].indices.tobytes() == made[1].indices.tobytes()
    assert made[0].recall == made[1].recall


def test_the_search_is_exact_where_all_distances_are_similar(monkeypatch):
    monkeypatch.setattr(nearest_neighbours, "EXACT_ROWS", 1000)
    points = np.random.default_rng(5).standard_normal((3000, 60))
    with Pool(2) as pool:
        found = nearest(points, 3, pool)
    assert found.exact
    assert (found.indices[:50] == ranked(brute_rows(points, 50), 3)).all()


def brute_rows(points, rows):
    """Return the squared distances of the first rows (rows × n), inf to themselves."""
    squared = np.array([((points - point) ** 2).sum(axis=1) for point in points[:rows]])
    squared[np.arange(rows), np.arange(rows)] = np.inf
    return squared


@pytest.mark.parametrize("value", [0.0, 7.5, -1e300])
def test_points_of_one_place_have_neighbours(value):
    with Pool(1) as pool:
        found = nearest(np.full((4, 2), value), 2, pool)
    assert found.indices.tolist() == [[1, 2], [0, 2], [0, 1], [0, 1]]


def test_points_of_small_clusters_have_all_their_neighbours(monkeypatch):
    monkeypatch.setattr(nearest_neighbours, "EXACT_ROWS", 1000)
    places = np.random.default_rng(0).standard_normal((130, 30))
    points = places.repeat([60] * 100 + [4] * 30, axis=0)  # cells of 4 points; 8 are asked for
    with Pool(2) as pool:
        found = nearest(points, 8, pool)
    assert not found.exact
    assert found.indices.min() >= 0
    differences = points[found.indices] - points[:, None]
    np.testing.assert_allclose(found.squared, (differences**2).sum(axis=2), atol=1e-9)
