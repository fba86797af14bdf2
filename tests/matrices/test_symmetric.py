"""The full matrix in memory against the dense one that was stored."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import random_counts, store_matrix, to_dense

from wordgeom.core import row_blocks
from wordgeom.matrices import symmetric as expansion
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.matrices.symmetric import full_matrix
from wordgeom.runtime.pool import Pool
from wordgeom.weighting.options import PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix


def sizes(monkeypatch, stored, whole):
    """Read blocks of `stored` entries, make blocks of `whole` entries."""
    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", stored)
    monkeypatch.setattr(expansion, "_ENTRIES", whole)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_the_full_matrix_equals_the_dense_one(tmp_path, monkeypatch, symmetric, dtype):
    full = random_counts(np.random.default_rng(40), 50, symmetric=symmetric)
    full[7], full[:, 7] = 0, 0
    full[49], full[:, 49] = 0, 0
    full[12, 12] = full[13, 13] = 9  # on the diagonal: must be met once
    full = full.astype(dtype)
    matrix = store_matrix(tmp_path / "m", full, kind="pmi", symmetric=symmetric)
    for stored, whole, threads in ((1 << 20, 1 << 20, 1), (5, 9, 2), (60, 1, 3), (1, 200, 2)):
        sizes(monkeypatch, stored, whole)
        with Pool(threads) as pool:
            rows = StoredRows(matrix, pool)
            found = rows.full()
        assert found.data.dtype == dtype
        assert np.array_equal(to_dense(found), full)
        assert found.nnz == np.count_nonzero(full) <= rows.entries


@pytest.mark.parametrize("full", [np.zeros((4, 4)), np.eye(1), np.zeros((1, 1)), np.diag([0, 3.0])])
@pytest.mark.parametrize("symmetric", [True, False])
def test_matrices_of_few_entries(tmp_path, full, symmetric):
    matrix = store_matrix(tmp_path / "m", full, kind="pmi", symmetric=symmetric)
    with Pool(1) as pool:
        found = full_matrix(StoredRows(matrix, pool), pool)
    assert (found.rows, found.columns) == full.shape
    assert np.array_equal(to_dense(found), full)


@pytest.mark.parametrize("symmetric", [True, False])
def test_weighted_rows_and_columns_agree(tmp_path, monkeypatch, symmetric):
    counts = random_counts(np.random.default_rng(41), 60, symmetric=symmetric)
    matrix = store_matrix(tmp_path / "m", counts, symmetric=symmetric)
    sizes(monkeypatch, 70, 90)
    with Pool(2) as pool:
        rows = WeightedMatrix(matrix, PmiOptions(cds=0.75), pool)
        whole, columns = to_dense(rows.full()), to_dense(rows.columns(np.arange(60)))
        assert rows.entries >= rows.full().nnz
    assert np.array_equal(whole, columns)
    assert whole.dtype == np.float32
    assert np.array_equal(whole, whole.T) == symmetric


def test_a_large_row_is_found_from_every_block(tmp_path, monkeypatch):
    # An arrow: row 0 is full, and every other row meets it in its first entry.
    full = np.diag(np.arange(1.0, 301.0))
    full[0] = full[:, 0] = np.arange(1.0, 301.0)
    matrix = store_matrix(tmp_path / "m", full, kind="pmi")
    sizes(monkeypatch, 10, 7)
    with Pool(3) as pool:
        found = full_matrix(StoredRows(matrix, pool), pool)
    assert np.array_equal(to_dense(found), full)
