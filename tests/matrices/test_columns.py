"""Selected columns of stored rows against those of the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import random_counts, store_matrix, to_dense

from wordgeom.core import row_blocks
from wordgeom.matrices.columns import select_columns
from wordgeom.matrices.cooccurrence import StoredMatrix
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.runtime.pool import Pool

CHOICES = [
    np.arange(7),
    np.arange(50),
    np.array([0]),
    np.array([49]),
    np.array([3, 8, 9, 31]),
    np.arange(0),
]


@pytest.mark.parametrize("chosen", CHOICES, ids=lambda c: f"{len(c)}")
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
def test_columns_equal_those_of_the_dense_matrix(tmp_path, monkeypatch, chosen, symmetric, dtype):
    full = random_counts(np.random.default_rng(2), 50, symmetric=symmetric).astype(dtype)
    matrix = store_matrix(tmp_path / "m", full, kind="pmi", symmetric=symmetric)
    for entries, threads in ((1 << 20, 1), (5, 2), (60, 3)):
        monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", entries)
        with Pool(threads) as pool:
            found = select_columns(StoredRows(matrix, pool), chosen, pool)
        assert found.data.dtype == dtype
        assert np.array_equal(to_dense(found), full[:, chosen])


def test_leading_columns_read_only_the_leading_rows(tmp_path, monkeypatch):
    full = random_counts(np.random.default_rng(3), 40).astype(np.float32)
    matrix = store_matrix(tmp_path / "m", full, kind="pmi")
    read = []
    rows = StoredMatrix.rows

    def noted(self, start, stop):
        read.append(stop)
        return rows(self, start, stop)

    monkeypatch.setattr(StoredMatrix, "rows", noted)
    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", 30)
    with Pool(1) as pool:
        StoredRows(matrix, pool).columns(np.arange(6))
    assert max(read) == 6


@pytest.mark.parametrize("chosen", [[1, 0], [2, 2], [-1, 3], [0, 40]])
def test_columns_that_do_not_ascend_or_do_not_exist_are_rejected(tmp_path, chosen):
    matrix = store_matrix(tmp_path / "m", np.eye(40, dtype=np.float32), kind="pmi")
    with Pool(1) as pool, pytest.raises(ValueError, match="must ascend"):
        StoredRows(matrix, pool).columns(np.array(chosen))


def test_an_empty_matrix_has_empty_columns(tmp_path):
    matrix = store_matrix(tmp_path / "m", np.zeros((5, 5), np.float32), kind="pmi")
    with Pool(1) as pool:
        found = StoredRows(matrix, pool).columns(np.arange(3))
    assert (found.rows, found.columns, found.nnz) == (5, 3, 0)
