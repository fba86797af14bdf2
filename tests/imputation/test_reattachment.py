"""Reattachment: every unknown is connected to an anchor, and nothing else changes."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.core.types import Csr
from wordgeom.imputation.graph import Graph
from wordgeom.imputation.reattachment import TREE_WEIGHT, reattach


def tree_graph(n, extra, seed):
    """A random tree in both directions, plus `extra` other in-neighbours per entity."""
    rng = np.random.default_rng(seed)
    tree = np.zeros((n, n), bool)
    for i in range(1, n):
        j = rng.integers(i)
        tree[i, j] = tree[j, i] = True
    edges = tree.copy()
    edges[np.arange(n).repeat(extra), rng.integers(n, size=n * extra)] = True
    np.fill_diagonal(edges, False)
    rows, columns = np.nonzero(edges)
    indptr = np.searchsorted(rows, np.arange(n + 1))
    return Graph(indptr, columns.astype(np.int32), tree[rows, columns].astype(np.uint8))


def random_weights(graph, rows, rng, zeros):
    """Weights on the graph's edges, mostly 0, with a positive one in each row."""
    lines = [graph.indices[graph.indptr[i] : graph.indptr[i + 1]] for i in rows]
    data = []
    for line in lines:
        w = rng.random(len(line)) * (rng.random(len(line)) > zeros)
        w[rng.integers(len(line))] += 0.5
        data.append(w / w.sum())
    indptr = np.concatenate(([0], np.cumsum([len(line) for line in lines])))
    columns = len(graph.indptr) - 1
    return Csr(indptr, np.concatenate(lines), np.concatenate(data), columns)


def reached(weights, rows, known):
    """Entities connected to an anchor, by fixed-point iteration."""
    dense = np.zeros((weights.columns, weights.columns))
    entry_rows = np.repeat(rows, np.diff(weights.indptr))
    dense[entry_rows, weights.indices] = weights.data
    done = known.copy()
    while np.any(new := ~done & ((dense > 0) @ done)):
        done |= new
    return done[rows]


@pytest.mark.parametrize("seed", range(12))
def test_all_unknowns_are_connected_and_only_cut_off_rows_change(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 80))
    graph = tree_graph(n, 2, seed)
    known = rng.random(n) < 0.1
    known[rng.integers(n - 1)], known[n - 1] = True, False
    rows = np.flatnonzero(~known)
    weights = random_weights(graph, rows, rng, 0.9)
    before = weights.data.copy()
    found, reattached = reattach(weights, graph, rows, known)
    np.testing.assert_array_equal(weights.data, before)
    np.testing.assert_array_equal(reattached, rows[~reached(weights, rows, known)])
    assert reached(found, rows, known).all()
    entry_rows = np.repeat(rows, np.diff(weights.indptr))
    kept = ~np.isin(entry_rows, reattached)
    np.testing.assert_array_equal(found.data[kept], before[kept])
    sums = np.add.reduceat(found.data, found.indptr[:-1])
    np.testing.assert_allclose(sums, 1.0, atol=1e-14)


def test_a_cluster_of_unknowns_is_reattached_by_its_tree_edges():
    # 0 is the anchor; 1 and 2 have weights on each other only, although the tree is 0 – 1 – 2.
    graph = Graph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32), np.ones(4, np.uint8))
    weights = Csr(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.array([0.0, 1.0, 1.0]), 3)
    known = np.array([True, False, False])
    found, reattached = reattach(weights, graph, np.array([1, 2]), known)
    np.testing.assert_array_equal(reattached, [1, 2])
    expected = [TREE_WEIGHT / (1 + TREE_WEIGHT), 1 / (1 + TREE_WEIGHT), 1.0]
    np.testing.assert_allclose(found.data, expected, rtol=1e-14)


def test_a_negligible_weight_does_not_connect():
    graph = Graph(np.array([0, 1, 3, 4]), np.array([1, 0, 2, 1], np.int32), np.ones(4, np.uint8))
    data = np.array([1e-15, 1.0 - 1e-15, 1.0])
    weights = Csr(np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), data, 3)
    found, reattached = reattach(weights, graph, np.array([1, 2]), np.array([True, False, False]))
    assert len(reattached) == 2
    assert found.data[0] > TREE_WEIGHT / 2


def test_connected_weights_are_returned_unchanged():
    graph = tree_graph(20, 2, 3)
    known = np.arange(20) == 4
    rows = np.flatnonzero(~known)
    weights = random_weights(graph, rows, np.random.default_rng(3), 0.0)
    found, reattached = reattach(weights, graph, rows, known)
    assert found is weights
    assert len(reattached) == 0
