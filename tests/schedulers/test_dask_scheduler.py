"""Blocks on a Dask cluster: bytes, lost processes, workers that do not belong."""

from __future__ import annotations

import os
import time
from dataclasses import replace
from threading import Timer
from typing import Any

import numpy as np
import pytest
from contexts import context_of
from dask_cluster import DaskCluster, Sums, blocks_of, dask_scheduler, fail, fill_disk, sums
from matrices import random_counts, store_matrix

import wordgeom as wg
from wordgeom.core.errors import (
    InputError,
    LostSchedulerError,
    MissingInputError,
    SchedulerError,
    WriteError,
)
from wordgeom.core.types import Csr, offsets
from wordgeom.counts import cluster_rows
from wordgeom.imputation.graph import neighbour_graph
from wordgeom.imputation.weights import fit_weights
from wordgeom.linalg import cluster_tasks
from wordgeom.linalg.cluster_ops import ClusterOps
from wordgeom.runtime.pool import Pool
from wordgeom.schedulers import clusters
from wordgeom.schedulers import dask_scheduler as dask_module
from wordgeom.schedulers.block_file import Receipt, take_block
from wordgeom.schedulers.worker import Run, admit
from wordgeom.storage.store import Store

_MODULE = "wordgeom.schedulers.dask_scheduler"
pytest.importorskip("distributed", reason="needs Dask: pip install 'wordgeom[cluster]'")


def test_blocks_are_computed_in_order_by_all_workers(cluster, tmp_path):
    rows = np.random.default_rng(1).standard_normal((400, 5))
    with dask_scheduler(cluster.address, tmp_path / "shared") as scheduler:
        spec = Sums(scheduler.share(rows), wait=0.01)
        done = list(scheduler.map(sums, blocks_of(400, 10), spec))
    np.testing.assert_array_equal(np.concatenate([one["sums"] for one in done]), rows.sum(1))
    processes = {int(one["process"][0]) for one in done}
    assert processes == {worker.pid for worker in cluster.workers}
    assert os.listdir(tmp_path) == []


def test_an_error_of_a_block_reaches_the_user(cluster, tmp_path):
    with (
        dask_scheduler(cluster.address, tmp_path / "shared") as scheduler,
        pytest.raises(InputError, match=r"^table.tsv: has no rows, found 7$"),
    ):
        list(scheduler.map(fail, [7], None))


@pytest.mark.parametrize(
    ("method", "options"), [("gbu", {}), ("gbu", {"loss": "logistic"}), ("pmi-eigs", {})]
)
def test_vectors_have_the_bytes_of_a_local_run(cluster, tmp_path, monkeypatch, method, options):
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(2), 1500))
    alone = wg.train(tmp_path / "cooc", method, dim=20, threads=1, **options)
    monkeypatch.setattr(cluster_tasks, "WORTH", 0)
    taken: list[Receipt] = []

    def counted(folder, receipt):
        taken.append(receipt)
        return take_block(folder, receipt)

    monkeypatch.setattr(f"{_MODULE}.take_block", counted)
    made = wg.train(
        tmp_path / "cooc", method, dim=20, out=tmp_path / "v.bin", scheduler=cluster.address,
        **options,
    )  # fmt: skip
    np.testing.assert_array_equal(made.vectors, alone.vectors)
    assert taken
    assert not list(tmp_path.glob(".*"))


def test_a_matrix_is_shared_at_its_third_product(cluster, tmp_path, monkeypatch):
    dense = np.random.default_rng(6).poisson(0.1, (300, 200)).astype(np.float32)
    rows, columns = np.nonzero(dense)
    starts = offsets(np.bincount(rows, minlength=300))
    sparse = Csr(starts, columns.astype(np.int32), dense[rows, columns], 200)
    tall = np.random.default_rng(7).standard_normal((200, 3)).astype(np.float32)
    monkeypatch.setattr(cluster_tasks, "WORTH", 0)
    with Pool(1) as pool, dask_scheduler(cluster.address, tmp_path / "shared") as scheduler:
        operator = ClusterOps(pool, scheduler).operator(sparse)
        first, second = operator.multiply(tall), operator.multiply(tall)
        assert not scheduler.used
        third = operator.multiply(tall)
        assert scheduler.used
    np.testing.assert_allclose(third, dense @ tall, rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(second, third)


@pytest.mark.parametrize("count", ["pairs", "windows"])
def test_counts_have_the_bytes_of_a_local_run(cluster, tmp_path, monkeypatch, count):
    rng = np.random.default_rng(4)
    words = [f"w{k}" for k in rng.zipf(1.3, 20_000) % 500]
    text = tmp_path / "text.txt"
    text.write_text("\n".join(" ".join(words[k : k + 50]) for k in range(0, len(words), 50)))
    options: dict[str, Any] = {"count": count, "min_count": 1, "threads": 1}
    wg.count(text, out=tmp_path / "alone", **options)
    monkeypatch.setattr(cluster_rows, "WORTH", 0)
    wg.count(text, out=tmp_path / "made", scheduler=cluster.address, **options)
    assert Store.open(tmp_path / "made").digest == Store.open(tmp_path / "alone").digest


def test_imputation_weights_have_the_bytes_of_a_local_run(cluster, tmp_path):
    points = np.random.default_rng(5).standard_normal((1200, 4))
    with Pool(2) as pool:
        context, rows = context_of(pool), np.arange(200, 1200)
        graph = neighbour_graph(points, 8, pool)
        alone = fit_weights(points, graph, rows, "simplex", 0.1, context)
        with dask_scheduler(cluster.address, tmp_path / "shared") as scheduler:
            there = replace(context, cluster=scheduler)
            found = fit_weights(points, graph, rows, "simplex", 0.1, there)
    np.testing.assert_array_equal(found.matrix.data, alone.matrix.data)


def test_blocks_of_a_killed_worker_are_computed_by_another(tmp_path):
    rows = np.ones((60, 2))
    with (
        DaskCluster(tmp_path, 2) as cluster,
        dask_scheduler(cluster.address, tmp_path / "shared") as scheduler,
    ):
        spec = Sums(scheduler.share(rows), wait=0.05)
        done = scheduler.map(sums, blocks_of(60, 2), spec)
        first = next(done)
        cluster.workers[0].kill()
        rest = list(done)
    assert [one["sums"].tolist() for one in [first, *rest]] == 30 * [[2.0, 2.0]]


def test_a_lost_scheduler_leaves_a_checkpoint_that_any_run_resumes(tmp_path, monkeypatch):
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(3), 300))
    monkeypatch.setattr(clusters, "_TIMEOUT", 5.0)  # seconds to connect again
    options: dict[str, Any] = {"dim": 20, "checkpoint": 0.0}
    alone = wg.train(tmp_path / "cooc", "gbu", **options)
    monkeypatch.setattr(cluster_tasks, "WORTH", 0)
    out = tmp_path / "v.bin"
    with DaskCluster(tmp_path, 1) as cluster:
        taken: list[Receipt] = []

        def lose_scheduler(folder, receipt):
            taken.append(receipt)
            if len(taken) == 3:
                cluster.scheduler.kill()
            return take_block(folder, receipt)

        monkeypatch.setattr(f"{_MODULE}.take_block", lose_scheduler)
        with pytest.raises(LostSchedulerError, match="continue with resume=True") as lost:
            wg.train(tmp_path / "cooc", "gbu", out=out, scheduler=cluster.address, **options)
    assert lost.value.exit_code == 75
    assert not (tmp_path / ".v.bin.shared").exists()
    assert (tmp_path / ".v.bin.state").exists()
    made = wg.train(tmp_path / "cooc", "gbu", out=out, resume=True, **options)
    np.testing.assert_array_equal(made.vectors, alone.vectors)


def test_missing_workers_are_noted_once(tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(dask_module, "_PATIENCE", 0.1)
    with caplog.at_level("INFO", "wordgeom"), DaskCluster(tmp_path, 0) as cluster:
        Timer(1.0, cluster.start_worker).start()
        with dask_scheduler(cluster.address, tmp_path / "shared") as scheduler:
            assert scheduler.threads == 1
    assert [one.message for one in caplog.records].count("note: waiting for workers") == 1


def test_an_interrupt_after_the_output_was_written_leaves_nothing_to_resume(
    cluster, tmp_path, monkeypatch
):
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(6), 50))

    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(dask_module.DaskScheduler, "close", interrupted)
    out = tmp_path / "v.bin"
    made = wg.train(tmp_path / "cooc", "gbu", dim=5, out=out, scheduler=cluster.address)
    assert made.vectors.shape == (50, 5)
    assert sorted(os.listdir(tmp_path)) == ["cooc", "v.bin", "v.bin.json"]


def test_a_full_disk_of_a_worker_is_one_line_and_leaves_nothing(cluster, tmp_path):
    with (
        dask_scheduler(cluster.address, tmp_path / "shared") as scheduler,
        pytest.raises(WriteError, match=r"(?i)no space left") as error,
    ):
        list(scheduler.map(fill_disk, [1], None))
    assert "\n" not in str(error.value)
    assert os.listdir(tmp_path) == []


def test_an_unreachable_scheduler_is_one_line(tmp_path, monkeypatch):
    monkeypatch.setattr(clusters, "_TIMEOUT", 0.5)
    with (
        pytest.raises(SchedulerError, match=r"^tcp://127.0.0.1:1: cannot connect") as error,
        dask_scheduler("tcp://127.0.0.1:1", tmp_path / "shared"),
    ):
        pass
    assert "\n" not in str(error.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("address", "what"),
    [("tcp://127.0.0.1", "has no port"), ("tls://127.0.0.1:9", "needs certificates")],
)
def test_an_unusable_address_is_one_line(tmp_path, address, what):
    with (
        pytest.raises(SchedulerError, match=rf"^{address}: .*{what}"),
        dask_scheduler(address, tmp_path / "shared"),
    ):
        pass


def test_an_unknown_scheduler_is_named(tmp_path):
    with (
        pytest.raises(MissingInputError, match=r"no such scheduler; pass tcp://"),
        dask_scheduler("nowhere", tmp_path / "shared"),
    ):
        pass


def test_a_worker_with_another_version_or_without_the_folder_is_refused(tmp_path):
    (tmp_path / "token").write_text("abc")
    run = Run.of(tmp_path, "abc")
    assert admit(run).refusal == ""
    other = tuple((name, "0.1" if name == "numpy" else own) for name, own in run.versions)
    assert "not 0.1" in admit(replace(run, versions=other)).refusal
    assert "does not see" in admit(replace(run, token="abd")).refusal
    assert "does not see" in admit(replace(run, folder=str(tmp_path / "none"))).refusal
    assert "instead of z80" in admit(replace(run, family="z80")).warning


@pytest.mark.parametrize(
    ("differs", "said"),
    [
        ({"versions": (("numpy", "0.1"),)}, r"has numpy .*, not 0.1"),
        ({"folder": "/nowhere"}, "does not see the shared folder /nowhere"),
    ],
    ids=["mixed versions", "no shared folder"],
)
def test_connected_workers_that_do_not_belong_end_the_run_in_a_line(
    cluster, tmp_path, monkeypatch, differs, said
):
    def of(folder, token):
        return replace(true(folder, token), **differs)

    true = Run.of
    monkeypatch.setattr(Run, "of", of)
    with (
        pytest.raises(SchedulerError, match=f"^the worker on .* {said}; start scheduler") as error,
        dask_scheduler(cluster.address, tmp_path / "shared"),
    ):
        pass
    assert "\n" not in str(error.value)
    assert os.listdir(tmp_path) == []


def test_local_workers_listen_on_this_machine_alone(tmp_path):
    with dask_scheduler("local", tmp_path / "shared") as scheduler:
        assert all(address.startswith("tcp://127.0.0.1:") for address in scheduler._workers)
        begun = time.monotonic()
        assert scheduler.threads == 1
    assert time.monotonic() - begun < 5.0
