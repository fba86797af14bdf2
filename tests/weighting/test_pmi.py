"""The PMI family against the formula over dense matrices."""

from __future__ import annotations

import math
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from matrices import random_counts, store_matrix, to_dense

from wordgeom.core import row_blocks
from wordgeom.core.errors import FormatError, OptionError
from wordgeom.core.types import Array, Csr, Float64, Int64
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.matrices.cooccurrence import MatrixWriter, StoredMatrix
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.runtime.pool import Pool
from wordgeom.storage.store import StoreWriter
from wordgeom.weighting import pmi
from wordgeom.weighting.kernels import weight_rows
from wordgeom.weighting.options import PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix

SETTINGS = [
    PmiOptions(),
    PmiOptions(weighting="pmi"),
    PmiOptions(neg=5.0),
    PmiOptions(neg=0.5),
    PmiOptions(cds=0.75),
    PmiOptions(weighting="pmi", neg=3.0, cds=0.6),
]


def formula(counts: Int64, options: PmiOptions, *, symmetric: bool) -> Float64:
    """Khalife eq. 15–16, Levy and Goldberg's shift and smoothing, over a dense matrix."""
    total = float(counts.sum())
    smoothed = counts.sum(0).astype(float) ** options.cds
    context = smoothed / smoothed.sum()
    expected = np.outer(counts.sum(1) / total, context)
    there = counts > 0
    G = np.zeros(counts.shape)
    G[there] = np.log(counts[there] / total / expected[there]) - math.log(options.neg)
    if options.weighting == "ppmi":
        G = np.maximum(G, 0.0)
    return (G + G.T) / 2 if symmetric else G


def weighted(counts: StoredMatrix, options: PmiOptions, pool: Pool) -> Array:
    """All of a weighted matrix, by its rows."""
    source = WeightedMatrix(counts, options, pool)
    blocks = [to_dense(source.rows(*block)) for block in source.row_blocks()]
    half = np.concatenate(blocks)
    assert half.dtype == np.float32
    return half + np.triu(half, 1).T if source.symmetric else half


@pytest.mark.parametrize("options", SETTINGS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_rows_and_columns_equal_the_formula(tmp_path, monkeypatch, options, symmetric):
    counts = random_counts(np.random.default_rng(1), 60, symmetric=symmetric)
    stored = store_matrix(tmp_path / "cooc", counts, symmetric=symmetric)
    wanted = formula(counts, options, symmetric=symmetric)
    with Pool(2) as pool:
        whole = weighted(stored, options, pool)
        np.testing.assert_allclose(whole, wanted, rtol=2e-7, atol=2e-7)
        for entries in (7, 100):
            monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", entries)
            assert np.array_equal(weighted(stored, options, pool), whole)
            chosen = np.array([0, 3, 4, 40])
            columns = WeightedMatrix(stored, options, pool).columns(chosen)
            assert np.array_equal(to_dense(columns), whole[:, chosen])


@pytest.mark.parametrize("denominator", [1, 60])
@pytest.mark.parametrize(
    "options", [*SETTINGS, PmiOptions(weighting="npmi"), PmiOptions(weighting="npmi", neg=2.0)]
)
@pytest.mark.parametrize("symmetric", [True, False])
def test_with_counts_has_every_counted_pair(tmp_path, options, symmetric, denominator):
    """Its pattern is that of the counts, its values those of the rows, 0 where clipped."""
    counts = random_counts(np.random.default_rng(6), 60, symmetric=symmetric)
    stored = store_matrix(tmp_path / "cooc", counts, symmetric=symmetric)
    stored = replace(stored, denominator=denominator)
    with Pool(2) as pool:
        source = WeightedMatrix(stored, options, pool)
        assert source.has_counts
        found, values = source.with_counts()
        assert np.array_equal(to_dense(found), to_dense(source.full()))
    assert found.data.dtype == values.dtype == np.float32
    if options.weighting != "npmi":
        wanted = formula(counts, options, symmetric=symmetric)
        np.testing.assert_allclose(to_dense(found), wanted, rtol=2e-7, atol=2e-7)
    held = to_dense(Csr(found.indptr, found.indices, values, found.columns))
    np.testing.assert_allclose(held, counts / denominator, rtol=1e-7)
    assert found.nnz == np.count_nonzero(counts)  # those of value 0 are entries too
    if options.weighting != "pmi":
        assert (found.data >= 0).all()
        assert (found.data == 0).any()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("ranges", [1, 5])
def test_pair_counts_visits_all_rows_of_the_weights(tmp_path, monkeypatch, symmetric, ranges):
    pairs = random_counts(np.random.default_rng(8), 60, symmetric=symmetric)
    stored = store_matrix(tmp_path / "cooc", pairs, symmetric=symmetric)
    monkeypatch.setattr(pmi, "_LEAST_RANGE", 1)
    monkeypatch.setattr(pmi, "_RANGES", ranges)
    visited = []
    with Pool(2) as pool:
        source = WeightedMatrix(stored, PmiOptions(cds=0.75), pool)
        weights, values = source.with_counts()
        counts = source.pair_counts(lambda first, rows: visited.append((first, rows)))
        assert source.pair_counts().data.tobytes() == counts.data.tobytes()
    assert np.array_equal(to_dense(counts), pairs)
    assert counts.data.tobytes() == values.tobytes()
    assert len(visited) >= ranges
    assert [first for first, _ in visited] == np.cumsum(
        [0, *(rows.rows for _, rows in visited[:-1])]
    ).tolist()
    rows = np.vstack([to_dense(rows) for _, rows in visited])
    assert np.array_equal(rows, to_dense(weights))


def test_stored_weights_have_no_counts(tmp_path):
    stored = store_matrix(tmp_path / "pmi", np.eye(4, dtype=np.float32), kind="pmi")
    with Pool(1) as pool:
        source = StoredRows(stored, pool)
        assert not source.has_counts
        assert source.with_counts() is None
        assert source.pair_counts() is None


@pytest.mark.parametrize("symmetric", [True, False])
def test_with_counts_is_the_same_in_blocks_of_any_size(tmp_path, monkeypatch, symmetric):
    pairs = random_counts(np.random.default_rng(7), 60, symmetric=symmetric)
    stored = store_matrix(tmp_path / "cooc", pairs, symmetric=symmetric)
    with Pool(3) as pool:
        whole, counts = WeightedMatrix(stored, PmiOptions(cds=0.75), pool).with_counts()
        for entries in (1, 100):
            monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", entries)
            monkeypatch.setattr(pmi, "_LEAST_RANGE", entries)
            monkeypatch.setattr(pmi, "_RANGES", 5)
            again, values = WeightedMatrix(stored, PmiOptions(cds=0.75), pool).with_counts()
            assert whole.data.tobytes() == again.data.tobytes()
            assert whole.indices.tobytes() == again.indices.tobytes()
            assert counts.tobytes() == values.tobytes()


SQUARES = st.integers(1, 7).map(lambda n: (n, n))


@given(
    half=arrays.arrays(np.int64, SQUARES, elements=st.integers(0, 50)),
    weighting=st.sampled_from(["ppmi", "pmi"]),
    neg=st.floats(0.1, 20),
    cds=st.sampled_from([1.0, 0.75, 0.1]),
)
def test_any_counts_equal_the_formula(half, weighting, neg, cds):
    counts = np.triu(half) + np.triu(half, 1).T
    options = PmiOptions(weighting=weighting, neg=neg, cds=cds)
    with tempfile.TemporaryDirectory() as folder, Pool(1) as pool:
        stored = store_matrix(Path(folder) / "cooc", counts)
        found = weighted(stored, options, pool)
    if counts.any():
        wanted = formula(counts, options, symmetric=True)
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6)
    else:
        assert not found.any()


def test_without_clipping_every_count_has_an_entry_and_with_it_only_positive_ones(tmp_path):
    # Independent words: every PMI is 0, which a stored entry must still say.
    counts = np.outer([4, 2, 2], [4, 2, 2])
    stored = store_matrix(tmp_path / "cooc", counts)
    with Pool(1) as pool:
        plain = WeightedMatrix(stored, PmiOptions(weighting="pmi"), pool).rows(0, 3)
        clipped = WeightedMatrix(stored, PmiOptions(), pool).rows(0, 3)
    assert plain.nnz == 6
    assert not plain.data.any()
    assert clipped.nnz == 0


def test_a_stored_zero_is_no_count():
    indptr, indices, out = np.zeros(2, np.int64), np.zeros(2, np.int32), np.zeros(2, np.float32)
    columns, ones = np.arange(2, dtype=np.int32), np.ones(2)
    row = np.array([0, 2]), columns, np.array([0, 3]), 0, ones, ones
    kept = weight_rows(*row, 0.0, False, False, indptr, indices, out)
    assert (kept, indices[0], out[0]) == (1, 1, np.float32(math.log(3)))
    # Where every entry is kept, it is one of value 0.
    wide, both = np.zeros(2, np.int32), np.zeros(2, np.float32)
    kept = weight_rows(*row, 0.0, True, False, indptr, wide, both, 0.0, False)
    assert (kept, indptr.tolist(), wide.tolist()) == (2, [0, 2], [0, 1])
    assert both.tolist() == [0.0, np.float32(math.log(3))]


def test_sums_beyond_an_int64_are_exact(tmp_path):
    # Fixed-point counts in units of 2⁻³²: every row fits, the total of all rows does not.
    counts = np.full((8, 8), 1 << 59) + np.diag(np.full(8, 1 << 58))
    stored = store_matrix(tmp_path / "cooc", counts)
    with Pool(1) as pool:
        found = weighted(stored, PmiOptions(weighting="pmi"), pool)
    np.testing.assert_allclose(found[0, 0], math.log(8 * 1.5 / 8.5), rtol=1e-6)
    np.testing.assert_allclose(found[0, 1], math.log(8 / 8.5), rtol=1e-6)


@pytest.mark.parametrize(
    "values",
    [{"neg": 0.0}, {"neg": -1.0}, {"neg": math.nan}, {"neg": math.inf}, {"cds": 0.0}, {"cds": 1.1}],
)
def test_impossible_options_are_rejected(values):
    with pytest.raises(OptionError, match=f"--{next(iter(values))}"):
        PmiOptions(**values)


@pytest.mark.parametrize("part", ["rowsums", "columnsums"])
def test_sums_that_do_not_fit_their_matrix_are_rejected(tmp_path: Path, part: str):
    """Compiled code reads them by the matrix's columns."""
    counts = random_counts(np.random.default_rng(3), 20, symmetric=False)
    path = tmp_path / "cooc"
    with StoreWriter(path, "cooc") as writer:
        sums = {"rowsums": counts.sum(1), "columnsums": counts.sum(0)}
        for name, values in sums.items():
            writer.array(name, np.int64).write(values[:7] if name == part else values)
        words = Vocabulary([f"w{k}" for k in range(20)], np.ones(20, np.int64))
        rows = MatrixWriter(writer, words, np.int64)
        there = np.nonzero(counts)
        rows.write(np.count_nonzero(counts, axis=1), there[1].astype(np.int32), counts[there])
        writer.commit(rows.finish({"triangle": "", "denominator": 1}), {})
    with Pool(1) as pool, pytest.raises(FormatError, match=f"its {part} do not match the matrix"):
        WeightedMatrix(StoredMatrix.open(path), PmiOptions(), pool)
