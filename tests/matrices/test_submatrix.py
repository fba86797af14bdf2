"""Rows and columns of chosen words, and rows held in memory, against the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import random_counts, store_matrix, to_dense

from wordgeom.core import row_blocks
from wordgeom.matrices.held_rows import HeldRows
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.matrices.submatrix import submatrix
from wordgeom.matrices.symmetric import full_matrix
from wordgeom.runtime.pool import Pool

CHOICES = [np.arange(50), np.arange(7), np.array([49]), np.array([3, 8, 9, 31]), np.arange(0)]


@pytest.mark.parametrize("chosen", CHOICES, ids=lambda c: f"{len(c)}")
@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("held", [True, False])
def test_a_submatrix_equals_that_of_the_dense_matrix(
    tmp_path, monkeypatch, chosen, symmetric, held
):
    full = random_counts(np.random.default_rng(4), 50, symmetric=symmetric).astype(np.float32)
    full[8], full[:, 8] = 0, 0
    matrix = store_matrix(tmp_path / "m", full, kind="pmi", symmetric=symmetric)
    for entries, threads in ((1 << 20, 1), (5, 2), (60, 3)):
        monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", entries)
        with Pool(threads) as pool:
            stored = StoredRows(matrix, pool)
            found = submatrix(HeldRows(stored, pool) if held else stored, chosen, pool)
        assert found.data.dtype == np.float32
        assert np.array_equal(to_dense(found), full[np.ix_(chosen, chosen)])
        assert found.nnz == np.count_nonzero(full[np.ix_(chosen, chosen)])
        for row in range(found.rows):
            assert np.all(np.diff(found.block(row, row + 1).indices) > 0)


def test_released_rows_are_read_from_the_source(tmp_path, monkeypatch):
    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", 60)
    full = random_counts(np.random.default_rng(5), 50).astype(np.float32)
    with Pool(2) as pool:
        stored = StoredRows(store_matrix(tmp_path / "m", full, kind="pmi"), pool)
        rows = HeldRows(stored, pool)
        taken = rows.release_above(1 << 30)
        assert taken >= 8 * np.count_nonzero(np.triu(full))
        monkeypatch.setattr(stored, "rows", None)  # the source is not read
        assert np.array_equal(to_dense(full_matrix(rows, pool)), full)
        assert rows.release_above(taken) == taken
        monkeypatch.undo()
        assert rows.release_above(taken - 1) == 0
        assert np.array_equal(to_dense(full_matrix(rows, pool)), full)
