"""Stages on a Dask cluster write the bytes of a run on one process."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from dask_cluster import DaskCluster
from matrices import random_counts, store_documents, store_matrix
from running import merge_cooc

import wordgeom as wg
from wordgeom.core.errors import InputError, OptionError, SchedulerError
from wordgeom.core.interruption import TRY_AGAIN
from wordgeom.counts import cluster_merge
from wordgeom.linalg import cluster_tasks
from wordgeom.matrices.shared_rows import SharedRows
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.run_options import ResumeOptions, RunOptions
from wordgeom.runtime.scheduler import Held, PoolScheduler
from wordgeom.schedulers import clusters
from wordgeom.schedulers.block_file import take_block
from wordgeom.stages.merging import sums
from wordgeom.storage.files import Lock
from wordgeom.storage.store import Store
from wordgeom.weighting import cluster_pmi

_RUN = RunOptions(threads=1)
_TAKEN = "wordgeom.schedulers.dask_scheduler.take_block"
pytest.importorskip("distributed", reason="needs Dask: pip install 'wordgeom[cluster]'")


@pytest.fixture
def taken(monkeypatch) -> list[Any]:
    """The receipts of the blocks that workers computed."""
    receipts: list[Any] = []

    def counted(folder, receipt):
        receipts.append(receipt)
        return take_block(folder, receipt)

    monkeypatch.setattr(_TAKEN, counted)
    return receipts


def _text(path, tokens=20_000, seed=4):
    rng = np.random.default_rng(seed)
    words = [f"w{k}" for k in rng.zipf(1.3, tokens) % 500]
    path.write_text("\n".join(" ".join(words[k : k + 50]) for k in range(0, len(words), 50)))
    return path


def _on(cluster) -> ResumeOptions:
    return ResumeOptions(scheduler=cluster.address)


def _digest(path) -> str:
    return Store.open(path).digest


@pytest.mark.parametrize(
    "options",
    [{}, {"weighting": "npmi", "cds": 0.75}, {"weighting": "pmi", "neg": 2.0}],
    ids=["ppmi", "npmi", "pmi"],
)
@pytest.mark.parametrize("symmetric", [True, False], ids=["triangle", "full"])
def test_pmi_has_the_bytes_of_a_local_run(
    cluster, tmp_path, monkeypatch, taken, options, symmetric
):
    counts = random_counts(np.random.default_rng(1), 300, symmetric=symmetric)
    store_matrix(tmp_path / "cooc", counts, symmetric=symmetric)
    wg.pmi(tmp_path / "cooc", out=tmp_path / "alone", threads=1, **options)
    monkeypatch.setattr(cluster_pmi, "WORTH", 0)
    monkeypatch.setattr("wordgeom.core.row_blocks.BLOCK_ENTRIES", 2000)
    made = tmp_path / "made"
    wg.pmi(tmp_path / "cooc", out=made, scheduler=cluster.address, **options)
    assert _digest(made) == _digest(tmp_path / "alone")
    assert len(taken) > 1


@pytest.mark.parametrize("shards", [4, 1], ids=["four shards", "two texts"])
def test_a_sum_has_the_bytes_of_a_local_run(cluster, tmp_path, monkeypatch, taken, shards):
    text, parts = _text(tmp_path / "text.txt"), []
    if shards == 1:
        wg.count(text, out=tmp_path / "words", min_count=1)
        for name, seed in (("one", 5), ("two", 6)):
            part = _text(tmp_path / f"{name}.txt", seed=seed)
            parts.append(tmp_path / name)
            wg.count(part, out=parts[-1], read_vocab=str(tmp_path / "words"))
    for k in range(1, shards + 1 if shards > 1 else 1):
        parts.append(tmp_path / f"shard-{k}")
        wg.count(text, out=parts[-1], shard=f"{k}/{shards}", min_count=1)
    merge_cooc(parts, tmp_path / "alone", _RUN)
    monkeypatch.setattr(cluster_merge, "WORTH", 0)
    monkeypatch.setattr(sums, "rows_at_once", lambda *_: 1000)
    merge_cooc(parts, tmp_path / "made", _RUN, resume=_on(cluster))
    assert _digest(tmp_path / "made") == _digest(tmp_path / "alone")
    assert len(taken) > 1


def test_a_difference_names_the_pair_that_is_negative(cluster, tmp_path, monkeypatch, taken):
    parts = []
    for name, text in (("first", "a b c d"), ("second", "a c b d")):
        (tmp_path / f"{name}.txt").write_text(text)
        (tmp_path / "words").write_text("a\nb\nc\nd\n")
        parts.append(tmp_path / name)
        wg.count(
            tmp_path / f"{name}.txt", out=parts[-1], window=1, read_vocab=str(tmp_path / "words")
        )
    monkeypatch.setattr(cluster_merge, "WORTH", 0)
    out = tmp_path / "made"
    with pytest.raises(InputError, match=r"the pair 'a', 'c' would have the count -1"):
        merge_cooc(parts, out, _RUN, resume=_on(cluster), subtract=True)
    assert taken
    assert not out.exists()


def test_a_worker_that_reads_another_matrix_says_so(tmp_path):
    counts = random_counts(np.random.default_rng(3), 20)
    matrix = store_matrix(tmp_path / "cooc", counts)
    with Pool(1) as pool:
        shared = SharedRows.of([matrix], PoolScheduler(pool))
    (found,) = shared.open()
    np.testing.assert_array_equal(found.rows(0, 20).data, matrix.rows(0, 20).data)
    moved = SharedRows(((str(tmp_path / "none"), "x"),), Held(matrix.indptr[None]), 20, True)
    with pytest.raises(SchedulerError, match="a worker cannot open it: no such matrix"):
        moved.open()
    other = SharedRows(((str(tmp_path / "cooc"), "x"),), Held(matrix.indptr[None]), 20, True)
    with pytest.raises(SchedulerError, match="a worker reads another matrix there"):
        other.open()


@pytest.mark.parametrize(
    "options",
    [{}, {"merge": "tree", "block_solver": "eigs", "overlap": 20}],
    ids=["core", "tree"],
)
def test_later_blocks_of_dc_have_the_bytes_of_a_local_run(cluster, tmp_path, taken, options):
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(5), 400))
    given: dict[str, Any] = {"dim": 10, "first_block": 100, "block": 60, **options}
    alone = wg.train(tmp_path / "cooc", "dc", threads=1, **given)
    out = tmp_path / "v.bin"
    made = wg.train(tmp_path / "cooc", "dc", out=out, scheduler=cluster.address, **given)
    np.testing.assert_array_equal(made.vectors, alone.vectors)
    assert len(taken) >= 5  # blocks


def _documents(folder):
    rng = np.random.default_rng(6)
    rows = [(1, row + 1, f"d{row}", str(1990 + row % 12)) for row in range(300)]
    store_documents(folder / "dtm", rng.poisson(0.3, (300, 80)), rows)


@pytest.mark.parametrize("method", ["lsa", "dlsa"])
def test_topics_have_the_bytes_of_a_local_run(cluster, tmp_path, monkeypatch, taken, method):
    _documents(tmp_path)
    given: dict[str, Any] = {"dim": 4, **({"sweeps": 3} if method == "dlsa" else {})}
    suffix = "" if method == "dlsa" else ".bin"
    alone, made = (tmp_path / f"{name}{suffix}" for name in ("alone", "made"))
    wg.train(tmp_path / "dtm", method, out=alone, threads=1, **given)
    monkeypatch.setattr(cluster_tasks, "WORTH", 0)
    monkeypatch.setattr(cluster_tasks, "LOCAL_PRODUCTS", 0)
    wg.train(tmp_path / "dtm", method, out=made, scheduler=cluster.address, **given)
    content = _digest if method == "dlsa" else Path.read_bytes
    assert content(made) == content(alone)
    assert len(taken) > 2  # products


@pytest.fixture
def model(tmp_path):
    """A dynamic model of documents."""
    _documents(tmp_path)
    wg.train_model(tmp_path / "dtm", tmp_path / "model", dim=3, sweeps=1)
    return tmp_path / "model"


@pytest.mark.parametrize("test", ["permutation", "flips"])
def test_drift_on_a_cluster_reports_what_a_local_run_does(cluster, model, taken, test):
    given: dict[str, Any] = {"test": test, "permutations": 19, "both_ranks": False}
    alone = wg.measure_drift(model, threads=1, **given)
    made = wg.measure_drift(model, scheduler=cluster.address, **given)
    assert made.to_dict() == alone.to_dict()
    assert taken
    assert sorted(os.listdir(model.parent)) == ["dtm", "model"]


def test_drift_without_its_scheduler_goes_on_without_one(tmp_path, model, monkeypatch):
    monkeypatch.setattr(clusters, "_TIMEOUT", 5.0)  # seconds to connect again
    (tmp_path / "logs").mkdir()
    given: dict[str, Any] = {"test": "permutation", "permutations": 19}
    with DaskCluster(tmp_path / "logs", 1) as cluster:

        def lose_scheduler(folder, receipt):
            cluster.scheduler.kill()
            return take_block(folder, receipt)

        monkeypatch.setattr(_TAKEN, lose_scheduler)
        with pytest.raises(SchedulerError, match="continue with resume=True") as lost:
            wg.measure_drift(model, scheduler=cluster.address, **given)
    assert lost.value.exit_code == TRY_AGAIN
    resumed = wg.measure_drift(model, resume=True, **given)
    assert resumed.to_dict() == wg.measure_drift(model, **given).to_dict()
    assert sorted(os.listdir(tmp_path)) == ["dtm", "logs", "model"]


def test_drift_without_a_scheduler_removes_what_a_killed_run_on_one_left(model):
    left = model.with_name(".model.drift.shared")
    left.mkdir()
    (left / "token").touch()
    Lock(left.with_name(f"{left.name}.lock"), left).abandon()
    wg.measure_drift(model, permutations=19)
    assert sorted(os.listdir(model.parent)) == ["dtm", "model"]


def test_measures_of_change_take_no_scheduler(model):
    with pytest.raises(OptionError, match="scheduler= applies to tests of a model"):
        wg.measure_drift(model, measure="gbu", scheduler="local")
