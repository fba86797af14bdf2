"""The graphs of pairs against brute force on small cases."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from wordgeom.core.types import Csr
from wordgeom.methods.mde.graphs.components import component_of
from wordgeom.methods.mde.graphs.distances import distances
from wordgeom.methods.mde.graphs.given_pairs import given_pairs
from wordgeom.methods.mde.graphs.keys import keys_of, to_pairs
from wordgeom.methods.mde.graphs.largest_entries import largest_entries
from wordgeom.methods.mde.graphs.neighbours import COSINE, EUCLIDEAN, neighbours, points_of
from wordgeom.methods.mde.graphs.paths import shortest_paths
from wordgeom.methods.mde.graphs.sampling import dissimilar, random_keys
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.runtime.pool import Pool

NONE = np.empty(0, np.int64)


def as_dict(pairs: Pairs) -> dict[tuple[int, int], float]:
    """The pairs; checks their order and types on the way."""
    dtypes = [array.dtype.name for array in (pairs.left, pairs.right, pairs.given)]
    assert dtypes == ["int32", "int32", "float32"]
    found = list(zip(pairs.left.tolist(), pairs.right.tolist(), strict=True))
    assert found == sorted(set(found))
    assert all(left < right for left, right in found)
    return dict(zip(found, pairs.given.tolist(), strict=True))


def made(pairs: dict[tuple[int, int], float], n: int) -> Pairs:
    keys = np.array([i * n + j for i, j in sorted(pairs)], np.int64)
    return to_pairs(keys, n, np.array([pairs[each] for each in sorted(pairs)]))


def brute_neighbours(apart, k):
    """Weights of neighbours by sorting whole rows of distances (n × n); inf: no neighbour."""
    n = len(apart)
    near = [
        [j for j in np.lexsort((np.arange(n), row)) if np.isfinite(row[j])][:k] for row in apart
    ]
    weights: dict[tuple[int, int], float] = {}
    for i, chosen in enumerate(near):
        for j in chosen:
            key = (min(i, int(j)), max(i, int(j)))
            weights[key] = weights.get(key, 0.0) + 1.0
    return weights


@pytest.fixture(scope="module")
def pool():
    with Pool(2) as pool:
        yield pool


@pytest.mark.parametrize("metric", [COSINE, EUCLIDEAN])
def test_neighbours_equal_brute_force_with_ties_and_duplicates(pool, metric):
    rng = np.random.default_rng(1)
    vectors = rng.integers(-2, 3, (60, 3)).astype(np.float32)  # many ties and duplicates
    vectors[7] = vectors[20] = 0.0
    x = vectors.astype(float)
    if metric == COSINE:
        x = x / np.maximum(np.linalg.norm(x, axis=1), 1e-300)[:, None]
    apart = np.sqrt(((x[:, None] - x[None]) ** 2).sum(2))
    np.fill_diagonal(apart, np.inf)
    zero = np.linalg.norm(x, axis=1) == 0.0
    if metric == COSINE:
        apart[zero] = np.inf
        apart[:, zero] = np.inf
    found = neighbours(points_of(vectors, metric), 4, pool)
    points = as_dict(found.pairs)
    assert found.recall == 1.0
    # Rounding decides between equal cosines, so compare the distances that are chosen.
    wanted = brute_neighbours(np.round(apart, 9), 4)
    if metric == EUCLIDEAN:
        assert points == wanted
    assert sum(points.values()) == sum(wanted.values())
    lengths = [sorted(round(float(apart[p]), 6) for p in which) for which in (points, wanted)]
    assert lengths[0][:20] == lengths[1][:20]
    if metric == COSINE:
        assert not any(zero[i] or zero[j] for i, j in points)


def test_cosine_neighbours_do_not_depend_on_lengths(pool):
    rng = np.random.default_rng(2)
    vectors = rng.standard_normal((50, 5)).astype(np.float32)
    scaled = vectors * np.float32(2.0) ** rng.integers(-60, 60, (50, 1)).astype(np.float32)
    one, other = (neighbours(points_of(v, COSINE), 5, pool).pairs for v in (vectors, scaled))
    assert as_dict(one) == as_dict(other)


def test_more_neighbours_than_items_are_all_items(pool):
    points = points_of(np.eye(4, dtype=np.float32), COSINE)
    assert set(as_dict(neighbours(points, 15, pool).pairs).values()) == {2.0}
    assert len(neighbours(points, 15, pool).pairs) == 6


@pytest.mark.parametrize("k", [1, 3, 100])
def test_the_largest_entries_equal_a_sort_of_dense_rows(pool, monkeypatch, k):
    monkeypatch.setattr("wordgeom.methods.mde.graphs.largest_entries._ENTRIES", 40)
    rng = np.random.default_rng(3)
    dense = rng.integers(0, 4, (40, 40)) * (rng.random((40, 40)) < 0.4)
    dense[5] = 0
    dense[6, :] = -1
    sparse = scipy.sparse.csr_array(dense.astype(np.float32))
    matrix = Csr(sparse.indptr.astype(np.int64), sparse.indices.astype(np.int32), sparse.data, 40)
    apart = np.where(dense > 0, -dense.astype(float), np.inf)
    np.fill_diagonal(apart, np.inf)
    assert as_dict(largest_entries(matrix, k, pool)) == brute_neighbours(apart, k)


@given(st.integers(2, 30), st.integers(0, 500), st.integers(0, 60), st.integers(0, 10**6))
def test_dissimilar_pairs_are_distinct_and_not_similar(n, number, similar, seed):
    total = n * (n - 1) // 2
    rng = np.random.default_rng(seed)
    keys = random_keys(n, min(similar, total), rng, NONE)
    near = to_pairs(keys, n, np.ones(len(keys)))
    far = dissimilar(near, n, number, np.random.default_rng(seed))
    assert len(far) == min(number, total - len(near))
    assert not as_dict(far).keys() & as_dict(near).keys()
    assert set(far.given.tolist()) <= {1.0}
    again = dissimilar(near, n, number, np.random.default_rng(seed))
    assert as_dict(again) == as_dict(far)


@pytest.mark.parametrize("n", [12, 60])  # all pairs listed, and pairs drawn
def test_every_pair_that_is_not_similar_is_as_probable(n):
    near = made(dict.fromkeys([(0, 1), (0, 2), (4, 9)], 1.0), n)
    number, rounds = 12, 6000
    counts = np.zeros(n * n)
    for seed in range(rounds):
        counts[keys_of(dissimilar(near, n, number, np.random.default_rng(seed)), n)] += 1
    share = number / (n * (n - 1) // 2 - 3)
    expected = rounds * share
    drawn = counts[np.flatnonzero(np.triu(np.ones((n, n)), 1).ravel())]
    drawn = np.delete(drawn, [0, 1, np.flatnonzero(np.flatnonzero(
        np.triu(np.ones((n, n)), 1).ravel()) == 4 * n + 9)[0]])  # fmt: skip
    assert counts[[1, 2, 4 * n + 9]].sum() == 0
    z = (drawn - expected) / np.sqrt(expected * (1.0 - share))
    assert np.abs(z).max() < 5.0
    assert np.mean(z**2) == pytest.approx(1.0, abs=0.5)


@pytest.mark.parametrize("metric", [COSINE, EUCLIDEAN])
def test_sampled_distances_are_those_of_the_vectors(metric):
    rng = np.random.default_rng(4)
    vectors = rng.standard_normal((30, 4)).astype(np.float32)
    vectors[3] = 0.0
    pairs = distances(points_of(vectors, metric), 50, rng)
    x = vectors.astype(float)
    if metric == COSINE:
        x[3] = 1.0
        x /= np.linalg.norm(x, axis=1)[:, None]
        assert 3 not in {*pairs.left.tolist(), *pairs.right.tolist()}
    assert len(pairs) == 50
    for (i, j), found in as_dict(pairs).items():
        assert found == pytest.approx(np.linalg.norm(x[i] - x[j]), rel=1e-6)
    everything = distances(points_of(vectors, EUCLIDEAN), 10**6, rng)
    assert len(as_dict(everything)) == 30 * 29 // 2


def floyd(graph, n):
    lengths = np.full((n, n), np.inf)
    np.fill_diagonal(lengths, 0.0)
    for (i, j), length in graph.items():
        lengths[i, j] = lengths[j, i] = length
    for k in range(n):
        lengths = np.minimum(lengths, lengths[:, k, None] + lengths[k])
    return lengths


@pytest.mark.parametrize("limit", [np.inf, 2.0])
def test_paths_are_shortest_and_unreachable_pairs_are_counted(pool, limit):
    rng = np.random.default_rng(5)
    n = 40
    edges = {(i, i + 1): float(rng.integers(0, 3)) for i in range(n - 1) if i != 24}
    edges |= {(0, 20): 1.0, (3, 17): 0.0, (26, 36): 0.5}  # two components; edges of length 0
    wanted = floyd(edges, n)
    found = shortest_paths(made(edges, n), n, 10**6, rng, pool, longest=limit)
    paths = as_dict(found.pairs)
    reached = {(i, j) for i in range(n) for j in range(i + 1, n) if wanted[i, j] <= min(limit, 1e9)}
    assert paths.keys() == reached
    assert found.apart == n * (n - 1) // 2 - len(reached)
    assert all(length == pytest.approx(wanted[pair]) for pair, length in paths.items())


def test_some_paths_are_sampled_from_some_sources(pool, monkeypatch):
    monkeypatch.setattr("wordgeom.methods.mde.graphs.paths._SOURCES", 20)
    n = 200
    edges = {(i, i + 1): 1.0 for i in range(n - 1)}
    runs = []
    for threads in (1, 3):
        with Pool(threads) as threaded:
            rng = np.random.default_rng(6)
            runs.append(as_dict(shortest_paths(made(edges, n), n, 400, rng, threaded).pairs))
    assert runs[0] == runs[1]
    assert 380 <= len(runs[0]) <= 400
    assert all(length == right - left for (left, right), length in runs[0].items())
    assert len({row for pair in runs[0] for row in pair}) > 150


def test_components_are_numbered_by_size():
    graph = made({(1, 4): 1.0, (4, 6): 0.0, (2, 3): 1.0}, 8)
    assert component_of(graph, 8).tolist() == [2, 0, 1, 1, 0, 3, 0, 4]


def test_pairs_of_a_file_are_averaged_and_counted():
    rows = {"cat": 0, "dog": 1, "köln": 2, "car": 3}
    lines = [
        ("cat", "dog", 2.0), ("dog", "cat", 4.0), ("car", "cat", -1.0), ("cat", "car", -1.0),
        ("dog", "car", -0.5), ("dog", "dog", 9.0), ("cat", "unicorn", 1.0), ("köln", "car", 0.0),
    ]  # fmt: skip
    left, right, values = zip(*lines, strict=True)
    found = given_pairs(left, right, np.array(values), rows.get, 4)
    assert as_dict(found.pairs) == {(0, 1): 3.0, (0, 3): -1.0, (1, 3): -0.5, (2, 3): 0.0}
    assert as_dict(found.similar) == {(0, 1): 3.0}
    assert as_dict(found.dissimilar) == {(0, 3): 1.0, (1, 3): 0.5}
    counted = (found.unknown, found.same, found.repeated, found.contradictory)
    assert counted == (1, 1, 2, 1)


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.floats(-3, 3)), max_size=40))
def test_pairs_of_a_file_do_not_depend_on_the_order_within_a_pair(lines):
    values = np.array([value for _, _, value in lines], np.float64)
    a, b = ([str(line[side]) for line in lines] for side in (0, 1))
    one, other = (given_pairs(*names, values, int, 7) for names in ((a, b), (b, a)))
    assert as_dict(one.pairs) == as_dict(other.pairs)


def test_no_pairs_at_all(pool):
    empty = given_pairs([], [], np.empty(0), int, 5)
    assert not len(empty.pairs)
    assert component_of(empty.pairs, 3).tolist() == [0, 1, 2]
    assert shortest_paths(empty.pairs, 3, 9, np.random.default_rng(0), pool).apart == 3
