"""--memory: no array is held twice, and too large a computation is an error before it starts."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from corpora import assert_one_line
from matrices import random_counts, store_matrix
from running import build_pmi, train

from wordgeom.core import row_blocks
from wordgeom.core.errors import InputError
from wordgeom.core.types import Array
from wordgeom.linalg.device import open_context
from wordgeom.matrices.opening import open_matrix
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.runtime.memory import check_memory
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import RunOptions
from wordgeom.vectors.keyed import read_vectors, write_vectors
from wordgeom.weighting.options import PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix

STATUS = Path("/proc/self/status")
V, M, K = 5000, 700, 10  # words, anchors, dimensions: 3.5 M entries in the anchors' columns
SHAPE = (20_000, 200)  # of vectors, 16 MB
MB = 10**6
TINY = 0.001  # GB
RUN = RunOptions(threads=2, memory=1.0, force=True, quiet=True)


def private() -> int:
    """The bytes that this process holds for itself: page cache is not counted."""
    lines = STATUS.read_text(encoding="ascii").splitlines()
    held = (line.split() for line in lines if line.startswith(("RssAnon", "RssShmem")))
    return sum(1024 * int(size) for _, size, _ in held)


def growth(work: Callable[[], object]) -> int:
    """How many bytes more than before are held while `work` runs, at most."""
    before, peak, done = private(), 0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.is_set():
            peak = max(peak, private())
            time.sleep(0.001)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        work()
    finally:
        done.set()
        watcher.join()
    return peak - before


def child(folder: Path) -> None:
    """Print what each stage takes, in a process that has done each before on little."""
    row_blocks.BLOCK_ENTRIES = 1 << 16

    def stages(source: str, matrix: Array) -> dict[str, int]:
        values = {"dim": K, "anchors": M if source == "cooc" else 2 * K}
        alone = {**values, "sweeps": 0}
        words = [f"w{k}" for k in range(len(matrix))]
        grown = {
            "pmi": growth(lambda: build_pmi(
                folder / source, folder / "pmi", PmiOptions(weighting="pmi"), RUN)),
            "gbu": growth(lambda: train(
                folder / source, "gbu", {**alone, "weighting": "pmi"}, RUN, out=None)),
        }  # fmt: skip
        # Arrays of smaller blocks than 1 MB would stay with the process when they are freed.
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(row_blocks, "BLOCK_ENTRIES", 1 << 18)
            grown["sweeps"] = growth(lambda: train(
                folder / source, "gbu", {**values, "sweeps": 1}, RUN, out=None))  # fmt: skip
        for suffix in (".bin", ".txt"):
            path = folder / f"vectors{suffix}"
            grown["write" + suffix] = growth(partial(write_vectors, path, words, matrix))
            grown["read" + suffix] = growth(partial(read_vectors, path))
        return grown

    stages("few", np.ones((9, 3), np.float32))
    drawn = np.random.default_rng(1).standard_normal(SHAPE, np.float32)
    sys.stdout.write(json.dumps(stages("cooc", drawn)))


@pytest.fixture(scope="module")
def grown(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    """What each stage of a process takes beyond what it held before."""
    if not STATUS.exists() or "RssAnon" not in STATUS.read_text(encoding="ascii"):
        pytest.skip("nothing tells what a process holds")
    folder = tmp_path_factory.mktemp("memory")
    store_matrix(folder / "few", random_counts(np.random.default_rng(0), 60))
    store_matrix(folder / "cooc", first_rows())
    # Freed arrays go back at once, so that one stage does not hide what the next one takes.
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(1 << 20)}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    run = subprocess.run(
        [sys.executable, __file__, str(folder)], capture_output=True, text=True, check=False,
        env=environment, timeout=120,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    made: dict[str, int] = json.loads(run.stdout.splitlines()[-1])
    return made


def first_rows() -> Array:
    """(V × V) counts in the anchors' rows and columns alone, all of them."""
    full = np.zeros((V, V), np.uint32)
    full[:M] = np.random.default_rng(2).integers(1, 50, (M, V))
    full[:M, :M] += full[:M, :M].T.copy()
    full[M:, :M] = full[:M, M:].T
    return full


def test_weighting_holds_a_few_blocks_of_rows(grown):
    assert grown["pmi"] < 8 * M * V // 2


def test_the_memory_estimate_of_the_build_up_holds(grown):
    columns, eigenvectors = 8 * M * V + 100 * V, 40 * M * M
    assert grown["gbu"] < columns + eigenvectors + 12 * MB


def test_the_memory_estimate_of_sweeps_holds(grown):
    entries, vectors = 2 * M * V, 4 * V * K
    blocks = 24 * MB  # of stored rows, which are read ahead
    assert grown["sweeps"] < 14 * entries + 5 * vectors + blocks


@pytest.mark.parametrize("suffix", [".bin", ".txt"])
def test_vectors_are_written_and_read_without_a_copy(grown, suffix):
    size = 4 * SHAPE[0] * SHAPE[1]
    assert grown["write" + suffix] < size
    assert size < grown["read" + suffix] < 2 * size


@pytest.mark.parametrize("method", ["gbu", "pmi-eigs"])
def test_too_much_memory_is_an_error_before_a_row_is_read(tmp_path, monkeypatch, method):
    counts = random_counts(np.random.default_rng(3), 300)
    stored = store_matrix(tmp_path / "cooc", counts)
    monkeypatch.setattr(type(stored), "rows", None)  # would fail
    with pytest.raises(InputError) as caught:
        train(tmp_path / "cooc", method, {"dim": 20}, RunOptions(memory=TINY / 10), out=None)
    assert_one_line(caught, "B, more than the memory limit of 100 KB", "--memory", "--max-vocab")


def test_the_line_names_what_where_and_what_to_do():
    check_memory("all of them", 10**9, 10**9, "go")
    with pytest.raises(
        InputError, match=r"^all of them need 2\.5 GB, more than the memory limit of 1 GB; go"
    ):
        check_memory("all of them", 25 * 10**8, 10**9, "go")


@pytest.mark.parametrize("chosen", [np.arange(20), np.arange(60), np.array([3, 8, 40]), []])
@pytest.mark.parametrize("symmetric", [True, False])
def test_columns_have_no_more_entries_than_estimated(tmp_path, chosen, symmetric):
    full = random_counts(np.random.default_rng(4), 60, symmetric=symmetric).astype(np.float64)
    matrix = store_matrix(tmp_path / "pmi", full, kind="pmi", symmetric=symmetric)
    chosen = np.array(chosen, np.int64)
    with Pool(1) as pool:
        source = StoredRows(matrix, pool)
        columns = source.columns(chosen)
        assert columns.nnz <= source.entries_of(chosen) <= 60 * len(chosen)
        assert source.dtype == columns.data.dtype == np.float64


def test_the_estimate_covers_float64(tmp_path):
    counts = random_counts(np.random.default_rng(5), 600)
    for name in ("float32", "float64"):
        store_matrix(tmp_path / name, counts.astype(name), kind="pmi")
    store_matrix(tmp_path / "cooc", counts)
    with Pool(1) as pool:
        weighted = WeightedMatrix(open_matrix(tmp_path / "cooc"), PmiOptions(), pool)
        assert weighted.dtype == weighted.rows(0, 9).data.dtype == np.float32
    for method in ("gbu", "pmi-eigs"):
        single, double = (least_memory(tmp_path / name, method) for name in ("float32", "float64"))
        assert double > single


def least_memory(path: Path, method: str) -> float:
    """The least --memory that a method does not refuse, by halving."""
    low, high = 0.0, 1.0
    while high - low > 1e-5:
        middle = (low + high) / 2
        if fits(path, method, middle):
            high = middle
        else:
            low = middle
    return high


def fits(path: Path, method: str, memory: float) -> bool:
    values = {"dim": 5, "anchors": 20} if method == "gbu" else {"dim": 5}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            "wordgeom.matrices.cooccurrence.StoredMatrix.rows", None
        )  # a TypeError: it was not refused
        try:
            train(path, method, values, RunOptions(memory=memory), out=None)
        except InputError:
            return False
        except TypeError:
            return True
    raise AssertionError("nothing was read")


if __name__ == "__main__":
    child(Path(sys.argv[1]))


def test_a_need_that_leaves_no_room_for_the_program_is_a_warning(caplog):
    with caplog.at_level(logging.INFO, "wordgeom"):
        check_memory("arrays", 500 * MB, 1000 * MB, "raise --memory")
        assert not caplog.messages
        check_memory("arrays", 950 * MB, 1000 * MB, "raise --memory")
    (line,) = caplog.messages
    assert line.startswith("warning: arrays and the program itself may need 1.07 GB")
    assert line.endswith("1 GB; raise --memory")


def test_a_limit_above_what_the_machine_has_is_a_warning(caplog):
    caplog.set_level(logging.WARNING)
    with open_context(RunOptions(threads=1, memory=1.0)):
        assert caplog.messages == []
    with open_context(RunOptions(threads=1, memory=1e6)) as context:
        assert context.memory == 10**15
    (line,) = caplog.messages
    assert line.startswith("warning: --memory allows 1,000 TB, and this machine has ")
