"""The neighbourhood graph: Kruskal's spanning tree and the rows of Algorithm 1."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from points import brute, surface
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from wordgeom.core.types import Csr
from wordgeom.imputation.graph import neighbour_graph
from wordgeom.linalg import nearest_neighbours
from wordgeom.linalg.nearest_neighbours import nearest
from wordgeom.linalg.spanning_tree import spanning_tree
from wordgeom.runtime.pool import Pool


def kruskal(points):
    """Return the tree's edges, sorted; ties are broken by the lower, then the upper end."""
    squared = brute(points)
    low, high = np.triu_indices(len(points), 1)
    parent = list(range(len(points)))

    def root(i):
        while parent[i] != i:
            i = parent[i]
        return i

    edges = []
    for e in np.lexsort((high, low, squared[low, high])):
        a, b = root(low[e]), root(high[e])
        if a != b:
            parent[a] = b
            edges.append((low[e], high[e]))
    return np.array(sorted(edges), np.int64).reshape(-1, 2)


def tree_of(points, k):
    with Pool(2) as pool:
        return spanning_tree(points, nearest(points, k, pool), pool)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(2, 60), d=st.integers(1, 4), k=st.integers(1, 6), seed=st.integers(0, 999),
    clusters=st.integers(1, 4),
)  # fmt: skip
def test_the_tree_matches_kruskal(n, d, k, seed, clusters):
    # Whole numbers have many ties and equal points; far clusters make short lists end inside.
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (n, d)) + 50.0 * rng.integers(0, clusters, (n, 1))
    assert (tree_of(points, min(k, n - 1)) == kruskal(points)).all()


def test_the_tree_is_as_short_as_in_scipy():
    points = np.random.default_rng(1).standard_normal((800, 6))
    edges = tree_of(points, 3)
    ours = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1).sum()
    theirs = minimum_spanning_tree(squareform(pdist(points))).sum()
    assert len(edges) == 799
    assert ours == pytest.approx(theirs, rel=1e-12)


def test_an_approximate_tree_spans_and_is_nearly_minimal(monkeypatch):
    points = surface(5000)
    points[:40] += 100.0  # far from all others: their lists end among themselves
    exact = tree_of(points, 5)
    monkeypatch.setattr(nearest_neighbours, "EXACT_ROWS", 1000)
    with Pool(2) as pool:
        lists = nearest(points, 5, pool)
        edges = spanning_tree(points, lists, pool)
    assert not lists.exact
    assert len(edges) == 4999
    ones = np.ones(len(edges))
    count, _ = connected_components(csr(edges, ones, 5000), directed=False)
    assert count == 1

    def length(tree):
        return np.linalg.norm(points[tree[:, 0]] - points[tree[:, 1]], axis=1).sum()

    assert length(exact) <= length(edges) <= 1.01 * length(exact)


def csr(edges, data, n):
    from scipy.sparse import coo_array

    return coo_array((data, (edges[:, 0], edges[:, 1])), shape=(n, n)).tocsr()


@settings(max_examples=40, deadline=None)
@given(n=st.integers(2, 40), delta=st.integers(1, 9), seed=st.integers(0, 999))
def test_rows_match_algorithm_1(n, delta, seed):
    points = np.random.default_rng(seed).integers(0, 5, (n, 3)).astype(np.float64)
    delta = min(delta, n - 1)
    with Pool(2) as pool:
        graph = neighbour_graph(points, delta, pool)
    squared, tree = brute(points), {tuple(edge) for edge in kruskal(points).tolist()}
    for i in range(n):
        own = [j for j in range(n) if (min(i, j), max(i, j)) in tree]
        row, cut = list(own), -1.0
        for j in np.argsort(squared[i], kind="stable"):
            if j not in row and (len(row) < delta or squared[i, j] == cut):
                row.append(int(j))
                cut = squared[i, j]  # ties with the last neighbour are neighbours too
        part = slice(graph.indptr[i], graph.indptr[i + 1])
        assert graph.indices[part].tolist() == sorted(row)
        assert graph.indices[part][graph.tree[part] == 1].tolist() == own


def test_a_hub_keeps_all_its_edges():
    # 20 points around one, each nearest to it: the tree is a star of degree 20 > delta.
    angles = np.linspace(0, 2 * np.pi, 20, endpoint=False)
    points = np.vstack([[0.0, 0.0], np.column_stack([np.cos(angles), np.sin(angles)]) * 0.1])
    points = np.hstack([points, np.vstack([np.zeros(20), np.eye(20)])])
    with Pool(1) as pool:
        graph = neighbour_graph(points, 3, pool)
    assert np.diff(graph.indptr).tolist() == [20] + [3] * 20
    assert isinstance(graph.indices, np.ndarray)
    assert Csr(graph.indptr, graph.indices, graph.tree, 21).nnz == 20 + 60
