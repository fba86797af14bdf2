"""The plan of blocks and the entries that each one gathers."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matrices import store_matrix, to_dense

from wordgeom.core.errors import RankError
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.methods.dc.gather import Source
from wordgeom.methods.dc.plan import CORE, MERGES, TREE, make_plan
from wordgeom.runtime.pool import Pool


@given(st.integers(1, 300), st.integers(5, 60), st.integers(5, 30), st.sampled_from(MERGES))
def test_every_word_is_in_one_block_and_every_overlap_in_one_earlier_block(V, first, new, merge):
    least = 5
    plan = make_plan(np.arange(V), first, new, 5, merge, least)
    assert (plan.starts[0], plan.starts[-1], plan.starts[1]) == (0, V, plan.own(0))
    assert (np.diff(plan.starts) > 0).all()
    for p in range(1, plan.blocks):
        assert plan.own(p) >= least
        parent = plan.parents[p]
        assert parent < p
        assert plan.starts[parent] <= plan.begins[p]
        assert plan.begins[p] + plan.overlap <= plan.starts[parent + 1]
        if merge != CORE:
            assert plan.children[parent][0] <= p < plan.children[parent][1]


def test_a_small_last_block_joins_the_block_before():
    plan = make_plan(np.arange(107), 40, 20, 6, CORE, 8)
    assert plan.starts.tolist() == [0, 40, 60, 80, 107]
    assert make_plan(np.arange(45), 40, 20, 6, CORE, 8).blocks == 1


def test_in_a_tree_the_depth_is_logarithmic():
    plan = make_plan(np.arange(10_000), 100, 10, 5, TREE, 5)
    depth = np.zeros(plan.blocks, int)
    for p in range(1, plan.blocks):
        depth[p] = depth[plan.parents[p]] + 1
    assert depth.max() == int(np.log2(plan.blocks - 1)) + 1


def test_a_first_block_below_the_overlap_is_explained():
    with pytest.raises(RankError, match="first block"):
        make_plan(np.arange(50), 5, 10, 8, CORE, 8)


@pytest.mark.parametrize("merge", MERGES)
@pytest.mark.parametrize("seed", range(3))
def test_gathered_blocks_are_those_of_the_matrix(tmp_path, merge, seed):
    rng = np.random.default_rng(seed)
    V, overlap = 130, 6
    half = np.triu(rng.standard_normal((V, V)) * (rng.random((V, V)) < 0.3)).astype(np.float32)
    G = half + np.triu(half, 1).T
    order = rng.permutation(V)
    plan = make_plan(order, 30, 13, overlap, merge, 7)
    with Pool(2) as pool:
        matrix = StoredRows(store_matrix(tmp_path / "g", G, kind="pmi"), pool)
        source = Source(matrix, plan, pool, inner=True)
        counts = source.counts()
        together, begins = source.entries(1, plan.blocks, counts)
        apart = [source.entries(p, p + 1, counts)[0] for p in range(1, plan.blocks)]
        first, at = source.first_block()
        rows = order[at]
        np.testing.assert_array_equal(to_dense(first), G[np.ix_(rows, rows)])
        np.testing.assert_array_equal(np.sort(at), np.arange(30))
        np.testing.assert_array_equal(source.leading(9), G[np.ix_(order[:9], order[:9])])
        assert first.nnz == counts[0]
        assert sum(len(one.values) for one in apart) == counts[1:].sum()
    for p, (ends, alone) in enumerate(zip(pairwise(begins.tolist()), apart, strict=True), 1):
        entries = together.part(*ends)
        begin = int(plan.begins[p])
        shared = np.arange(begin, begin + overlap)
        own = np.arange(plan.starts[p], plan.starts[p + 1])
        words = order[np.concatenate((shared, own))]
        wanted = G[np.ix_(words, words)].astype(np.float64)
        if merge == CORE:  # whose entries the first block has
            wanted[:overlap, :overlap] = 0
        np.testing.assert_array_equal(entries.dense(len(words)), wanted)
        assert entries.values.tobytes() == alone.values.tobytes()
