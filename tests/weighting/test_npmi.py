"""Normalised PMI against its formula over dense matrices, and at its limits."""

from __future__ import annotations

import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from matrices import random_counts, store_matrix, to_dense
from running import build_pmi, train

from wordgeom.core.errors import OptionError
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import RunOptions
from wordgeom.weighting.options import NPMI, PPMI, PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix


def formula(counts: Int64, options: PmiOptions, *, symmetric: bool = True) -> Float64:
    """histwords' normalised PPMI: shifted, clipped, then divided by −log p_ij."""
    share = counts / counts.sum()
    smoothed = counts.sum(0).astype(float) ** options.cds
    there = counts > 0
    G = np.zeros(counts.shape)
    expected = np.outer(counts.sum(1) / counts.sum(), smoothed / smoothed.sum())
    G[there] = np.maximum(np.log(share[there] / expected[there]) - math.log(options.neg), 0.0)
    G = (G + G.T) / 2 if symmetric else G
    G[there] /= -np.log(share[there])
    return G


def weighted(counts: StoredMatrix, options: PmiOptions) -> Array:
    with Pool(1) as pool:
        source = WeightedMatrix(counts, options, pool)
        half = to_dense(source.rows(0, len(source.words)))
    return half + np.triu(half, 1).T if source.symmetric else half


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("values", [{}, {"neg": 3.0}, {"cds": 0.75}, {"neg": 5.0, "cds": 0.5}])
def test_values_are_those_of_the_formula(tmp_path, symmetric, values):
    counts = random_counts(np.random.default_rng(1), 50, symmetric=symmetric)
    options = PmiOptions(weighting=NPMI, **values)
    found = weighted(store_matrix(tmp_path / "cooc", counts, symmetric=symmetric), options)
    wanted = formula(counts, options, symmetric=symmetric)
    np.testing.assert_allclose(found, wanted, rtol=2e-7, atol=2e-7)
    assert np.count_nonzero(found) == np.count_nonzero(found > 0) > 0


SQUARES = st.integers(2, 7).map(lambda n: (n, n))


@given(arrays.arrays(np.int64, SQUARES, elements=st.integers(0, 50)), st.floats(1.0, 20.0))
def test_values_lie_between_0_and_1_and_are_0_where_ppmi_is(counts, neg):
    counts = np.triu(counts) + np.triu(counts, 1).T
    with tempfile.TemporaryDirectory() as folder:
        stored = store_matrix(Path(folder) / "cooc", counts)
        found = weighted(stored, PmiOptions(weighting=NPMI, neg=neg))
        ppmi = weighted(stored, PmiOptions(weighting=PPMI, neg=neg))
    assert ((found >= 0) & (found <= 1 + 1e-6)).all()
    alone = counts == counts.sum()  # a single pair, whose value is a limit
    np.testing.assert_array_equal((found > 0)[~alone], (ppmi > 0)[~alone])


def test_words_that_occur_only_together_have_1(tmp_path):
    counts = np.array([[0, 7, 0, 0], [7, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    apart = np.kron(np.eye(2), np.ones((2, 2)))
    halved = weighted(store_matrix(tmp_path / "cooc", counts), PmiOptions(weighting=NPMI))
    # A word's only neighbour: p_ij = p_i = p_j, so that PMI = −log p_ij.
    np.testing.assert_allclose(halved, apart * (counts > 0), rtol=1e-6)


@pytest.mark.parametrize("count", [1, 3, 49, 10**15 + 1])
@pytest.mark.parametrize(("neg", "wanted"), [(1.0, 1.0), (2.0, 0.0)])
def test_the_only_pair_has_the_limit(tmp_path, count, neg, wanted):
    stored = store_matrix(tmp_path / "cooc", np.array([[count]]))
    assert weighted(stored, PmiOptions(weighting=NPMI, neg=neg)) == wanted


def test_a_matrix_that_was_weighted_first_gives_the_same_vectors(tmp_path):
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(2), 40))
    run = RunOptions(threads=1)
    build_pmi(tmp_path / "cooc", tmp_path / "pmi", PmiOptions(weighting=NPMI), run)
    values: dict[str, Any] = {"dim": 3, "anchors": 12, "weighted": False}
    first = train(tmp_path / "pmi", "gbu", values, run, out=None)
    values |= {"weighting": NPMI}
    direct = train(tmp_path / "cooc", "gbu", values, run, out=None)
    assert first.vectors is not None
    assert direct.vectors is not None
    np.testing.assert_array_equal(first.vectors.matrix, direct.vectors.matrix)


def test_a_shift_that_raises_is_rejected():
    with pytest.raises(OptionError) as caught:
        PmiOptions(weighting=NPMI, neg=0.5)
    assert_one_line(caught, "--neg", "0.5", "--weighting ppmi")
