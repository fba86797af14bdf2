"""The shared folder: what is written is read back or refused, and nothing is left."""

from __future__ import annotations

import errno
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from wordgeom.core.errors import LockedError, SchedulerError, WriteError
from wordgeom.core.types import Array
from wordgeom.schedulers import shared_array
from wordgeom.schedulers.block_file import take_block, write_block
from wordgeom.schedulers.shared_folder import remove_left_folder, shared_folder
from wordgeom.storage import files
from wordgeom.storage.files import Lock

ARRAYS: list[Array] = [
    np.arange(6, dtype=np.float32).reshape(3, 2), np.zeros((0, 4)), np.array(7, np.int64),
]  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_opened():
    shared_array._opened.clear()


def test_arrays_are_read_as_they_were_shared(tmp_path):
    with shared_folder(tmp_path / "shared") as folder:
        for array in ARRAYS:
            found = folder.share(array).open()
            np.testing.assert_array_equal(found, array)
            assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert os.listdir(tmp_path) == []


def test_an_array_stays_until_each_of_its_users_released_it(tmp_path):
    with shared_folder(tmp_path / "shared") as folder:
        one, other = folder.share(ARRAYS[0]), folder.share(ARRAYS[0].copy())
        folder.release(one)
        np.testing.assert_array_equal(other.open(), ARRAYS[0])
        folder.release(other)
        assert not os.path.exists(other.path)


def test_equal_arrays_that_are_shared_at_the_same_time_have_one_file(tmp_path):
    large = np.arange(1 << 20)
    with shared_folder(tmp_path / "shared") as folder, ThreadPoolExecutor(4) as pool:
        made = list(pool.map(folder.share, [large] * 4))
        assert len(set(made)) == 1
        for one in made:
            np.testing.assert_array_equal(one.open(), large)
            folder.release(one)
        assert not os.path.exists(made[0].path)


def test_an_array_that_changed_is_refused(tmp_path):
    with shared_folder(tmp_path / "shared") as folder:
        shared = folder.share(ARRAYS[0])
        np.save(shared.path, ARRAYS[0] + 1)
        with pytest.raises(SchedulerError, match="other bytes"):
            shared.open()


def test_no_pickle_is_loaded(tmp_path):
    with shared_folder(tmp_path / "shared") as folder:
        shared = folder.share(ARRAYS[0])
        np.save(shared.path, np.array([{}], object), allow_pickle=True)
        with pytest.raises(SchedulerError, match="cannot be read"):
            shared.open()


def test_results_are_read_once_and_verified(tmp_path):
    result = {"a": ARRAYS[0], "b": ARRAYS[1], "c": ARRAYS[2]}
    receipt = write_block(tmp_path, result)
    found = take_block(tmp_path, receipt)
    assert found.keys() == result.keys()
    for name, array in result.items():
        np.testing.assert_array_equal(found[name], array)
        assert found[name].shape == array.shape
    assert os.listdir(tmp_path) == []
    receipt = write_block(tmp_path, result)
    path = tmp_path / receipt.name
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(SchedulerError, match="other bytes"):
        take_block(tmp_path, receipt)


def test_a_full_disk_leaves_no_part_of_a_result(tmp_path, monkeypatch):
    def full(step, path):
        if step == "write":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files, "boundary", full)
    with pytest.raises(WriteError, match="no space left"):
        write_block(tmp_path, {"a": ARRAYS[0]})
    assert os.listdir(tmp_path) == []


def test_the_folder_of_a_killed_run_is_removed_and_one_in_use_is_not(tmp_path):
    left = tmp_path / "shared"
    left.mkdir()
    (left / "token").write_text("old")
    remove_left_folder(left)
    assert os.listdir(tmp_path) == []
    with shared_folder(left) as folder:
        remove_left_folder(left)
        assert left.exists()
        with pytest.raises(LockedError), shared_folder(left):
            pass
        np.testing.assert_array_equal(folder.share(ARRAYS[0]).open(), ARRAYS[0])


def test_the_lock_alone_of_a_killed_run_is_removed(tmp_path):
    Lock(tmp_path / "shared.lock", tmp_path / "shared").abandon()
    assert os.listdir(tmp_path) == ["shared.lock"]
    remove_left_folder(tmp_path / "shared")
    assert os.listdir(tmp_path) == []


def test_a_left_folder_that_may_not_be_removed_stays(tmp_path, monkeypatch):
    def forbidden(step, path):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))

    left = tmp_path / "shared"
    left.mkdir()
    Lock(tmp_path / "shared.lock", left).abandon()
    monkeypatch.setattr(files, "boundary", forbidden)
    remove_left_folder(left)
    assert sorted(os.listdir(tmp_path)) == ["shared", "shared.lock"]
