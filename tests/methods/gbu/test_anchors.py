"""Which words are anchors: core numbers by brute force and in closed form, leverage, chance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import store_matrix, to_csr

from wordgeom.core.types import Csr
from wordgeom.linalg.device import get_ops
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.methods.gbu.algorithm1 import build_up
from wordgeom.methods.gbu.anchors import CHOICES, by_coreness, choose_anchors, coreness
from wordgeom.runtime.pool import Pool

V, K, M = 40, 3, 12


def peeled(graph):
    """Core numbers by the definition: who is left when all of degree below k have gone."""
    edges = graph.astype(bool) & ~np.eye(len(graph), dtype=bool)
    core = np.zeros(len(graph), np.int64)
    for k in range(1, len(graph)):
        left = np.ones(len(graph), bool)
        while (weak := left & (edges[:, left].sum(1) < k)).any():
            left &= ~weak
        core[left] = k
    return core


def symmetric(rng, n, share):
    half = np.triu(rng.random((n, n)) < share)
    return (half | half.T).astype(np.float32)


def edges_of(n, pairs):
    graph = np.zeros((n, n), np.float32)
    for i, j in pairs:
        graph[i, j] = graph[j, i] = 1.0
    return graph


@given(n=st.integers(0, 14), share=st.floats(0.0, 1.0), seed=st.integers(0, 1000))
def test_core_numbers_are_those_of_peeling(n, share, seed):
    graph = symmetric(np.random.default_rng(seed), n, share)
    assert coreness(to_csr(graph)).tolist() == peeled(graph).tolist()


def test_core_numbers_of_a_larger_graph_are_those_of_peeling():
    rng = np.random.default_rng(30)
    scale = 1.0 / np.sqrt(1.0 + np.arange(150))
    graph = symmetric(rng, 150, np.minimum(1.0, 20 * np.outer(scale, scale)))
    found = coreness(to_csr(graph))
    assert found.tolist() == peeled(graph).tolist()
    assert len(set(found.tolist())) > 5


@pytest.mark.parametrize(
    ("graph", "core"),
    [
        (np.zeros((3, 3)), [0, 0, 0]),
        (np.eye(3), [0, 0, 0]),  # an edge to oneself is none
        (np.ones((5, 5)), [4] * 5),
        (edges_of(6, [(0, i) for i in range(1, 6)]), [1] * 6),  # a star
        (edges_of(6, [(i, i + 1) for i in range(5)]), [1] * 6),  # a path
        (edges_of(6, [(i, (i + 1) % 6) for i in range(6)]), [2] * 6),  # a ring
        (edges_of(5, [(0, 1), (1, 2), (0, 2), (2, 3)]), [2, 2, 2, 1, 0]),
    ],
)
def test_core_numbers_in_closed_form(graph, core):
    assert coreness(to_csr(graph.astype(np.float32))).tolist() == core


def test_core_numbers_take_time_linear_in_the_edges():
    """A star and a path of a million vertices: what is quadratic in anything does not end."""
    n = 1_000_000
    hub = np.concatenate((np.arange(1, n), np.zeros(n - 1, np.int64))).astype(np.int32)
    star = Csr(np.concatenate(([0], np.arange(n - 1, 2 * n - 1))), hub, hub, n)
    assert (coreness(star) == 1).all()
    ends = np.arange(n)
    both = np.stack((ends - 1, ends + 1), 1).ravel()[1:-1].astype(np.int32)
    path = Csr(np.concatenate(([0], np.arange(1, 2 * n - 2, 2), [2 * n - 2])), both, both, n)
    assert (coreness(path) == 1).all()


def test_vertices_of_equal_core_are_ordered_by_frequency_and_row():
    graph = edges_of(7, [(0, 1), (3, 4), (4, 5), (3, 5), (2, 6)])
    order = by_coreness(to_csr(graph), np.array([1, 5, 2, 3, 3, 9, 2]))
    assert order.tolist() == [5, 3, 4, 1, 2, 6, 0]


# ── Choosing ─────────────────────────────────────────────────────────────────────────────────


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """A positive semidefinite matrix of rank 8, with words that have no entry."""
    rng = np.random.default_rng(31)
    points = rng.standard_normal((V, 8)) * rng.gamma(0.5, 2.0, (V, 1))
    points[[5, 17, 30]] = 0.0
    G = points @ points.T
    frequencies = rng.permutation(V) + 1
    folder = tmp_path_factory.mktemp("anchors")
    return store_matrix(folder / "g", G, kind="pmi", frequencies=frequencies), G


def chosen(stored, choice, m=M, seed=1):
    with Pool(1) as pool:
        matrix, rng = StoredRows(stored[0], pool), np.random.default_rng(seed)
        return choose_anchors(matrix, m, K, choice, rng, get_ops("cpu", pool))


@pytest.mark.parametrize("choice", CHOICES)
@pytest.mark.parametrize("m", [M, V])
def test_anchors_are_distinct_ascending_rows(stored, choice, m):
    found = chosen(stored, choice, m)
    assert len(found) == m
    assert (np.diff(found) > 0).all()
    assert 0 <= found[0] <= found[-1] < V
    assert np.array_equal(found, chosen(stored, choice, m))


def test_the_most_frequent_words_are_anchors(stored):
    frequencies = stored[0].vocabulary.counts
    assert set(frequencies[chosen(stored, "frequency")]) == set(range(V - M + 1, V + 1))


def test_the_densest_core_is_anchors(stored):
    frequencies, core = stored[0].vocabulary.counts, peeled(stored[1] != 0)
    best = sorted(range(V), key=lambda i: (-core[i], -frequencies[i]))
    assert chosen(stored, "coreness").tolist() == sorted(best[:M])


def test_leverage_is_that_of_the_rows_of_a_first_fit(stored):
    G, first = stored[1], chosen(stored, "frequency")
    with Pool(1) as pool:
        columns = StoredRows(stored[0], pool).columns(first)
        vectors = build_up(columns, first, K, 0.5, get_ops("cpu", pool)).vectors
    product = G @ vectors
    hat = product @ np.linalg.pinv(product)  # the projection on its span
    scores = np.diag(hat)
    assert chosen(stored, "leverage").tolist() == sorted(np.argsort(-scores)[:M])
    assert scores.sum() == pytest.approx(K)


def test_words_without_entries_are_drawn_last(stored):
    empty = [5, 17, 30]
    for seed in range(20):
        assert not set(empty) & set(chosen(stored, "random", V - 3, seed).tolist())
    assert set(chosen(stored, "random", V - 2).tolist()) & set(empty) == {5}


def test_random_anchors_depend_on_the_seed(stored):
    draws = {tuple(chosen(stored, "random", M, seed).tolist()) for seed in range(10)}
    assert len(draws) == 10
    assert len({row for draw in draws for row in draw}) > 30
