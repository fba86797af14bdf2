"""Mapped arrays: the same numbers as in memory, and one line for a full disk."""

from __future__ import annotations

import os
from functools import partial

import numpy as np
import pytest
from matrices import random_counts, store_matrix

from wordgeom.core.errors import WriteError
from wordgeom.core.row_blocks import BLOCK_ENTRIES
from wordgeom.linalg.device import get_ops
from wordgeom.matrices import symmetric
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.matrices.symmetric import expanded, full_matrix
from wordgeom.methods.gbu import cost, finish, method
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.storage import memmap
from wordgeom.weighting.options import PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix


@pytest.mark.parametrize("length", [0, 1, 100_000])
@pytest.mark.parametrize("dtype", [np.int32, np.float32, np.int64])
def test_a_mapped_array_is_writable_and_leaves_no_file(tmp_path, length, dtype):
    room = memmap.on_disk(str(tmp_path))(length, dtype)
    assert (room.shape, room.dtype) == ((length,), dtype)
    room[:] = np.arange(length)
    np.testing.assert_array_equal(room, np.arange(length))
    assert not list(tmp_path.iterdir())


def test_a_full_disk_is_reported_before_any_page_is_written(tmp_path, monkeypatch):
    def full(*_: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(WriteError, match=r"no space left on device.*--tmp-dir"):
        memmap.on_disk(str(tmp_path))(10, np.int32)
    with pytest.raises(WriteError, match="no such file or directory"):
        memmap.on_disk(str(tmp_path / "nowhere"))(10, np.int32)


@pytest.mark.parametrize("size", [1, 50, 700, BLOCK_ENTRIES])
@pytest.mark.parametrize("threads", [1, 2])
def test_a_matrix_expanded_by_ranges_is_the_full_matrix(tmp_path, monkeypatch, size, threads):
    counts = random_counts(np.random.default_rng(4), 60)
    counts[:, 9] = counts[9] = 0
    matrix = store_matrix(tmp_path / "c", counts)
    with Pool(threads) as pool:
        source = StoredRows(matrix, pool)
        wanted = full_matrix(source, pool)
        for name in ("_RANGE", "_ENTRIES"):
            monkeypatch.setattr(symmetric, name, size)
        found = expanded(source, pool, memmap.on_disk(str(tmp_path)))
    np.testing.assert_array_equal(found.indptr, wanted.indptr)
    np.testing.assert_array_equal(found.indices, wanted.indices)
    np.testing.assert_array_equal(found.data, wanted.data)


@pytest.mark.parametrize(("loss", "pair"), [("logistic", 11), ("squared", 14)])
def test_mapped_pairs_give_the_same_vectors(tmp_path, monkeypatch, loss, pair):
    matrix = store_matrix(tmp_path / "c", random_counts(np.random.default_rng(5), 80))
    made, used = [], []

    def noted(folder: str | None) -> memmap.Allocate:
        used.append(folder)
        return memmap.on_disk(folder)

    monkeypatch.setattr(finish, "on_disk", noted)
    with Pool(2) as pool:
        source = WeightedMatrix(matrix, PmiOptions(), pool)
        least = cost._HELD_VECTORS * 4 * 80 * 5 + pair * source.entries
        for memory in (1 << 30, least, least - 1):
            monkeypatch.setattr(cost, "check", lambda *_, **__: None)
            run = Context(pool, partial(get_ops, "cpu", pool), memory, scratch=str(tmp_path))
            made.append(method.fit({"matrix": source}, method.Options(dim=5, loss=loss), run))
    assert used == [str(tmp_path)]
    assert len({result.vectors.tobytes() for result in made}) == 1
    assert all(result.statistics == made[0].statistics for result in made)
