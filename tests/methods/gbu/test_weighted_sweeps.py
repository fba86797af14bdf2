"""The weighted objective by brute force over all pairs, how it falls, and where it ends."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from interruptions import interrupted_after
from matrices import random_counts, store_matrix, to_csr, to_dense

from wordgeom.cli import main
from wordgeom.core.types import Csr
from wordgeom.linalg.device import get_ops
from wordgeom.linalg.row_solver import zero_objective
from wordgeom.methods.gbu import weighted_sweeps
from wordgeom.methods.gbu.finish import half_sweeps
from wordgeom.methods.gbu.sweep_state import State, restored, saved
from wordgeom.methods.gbu.weighted_sweeps import Loss, SquaredSweeps, confidences
from wordgeom.runtime.pool import Pool
from wordgeom.weighting.options import PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix

DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]
V, K = 70, 8
TO_100 = (100 / K) ** 2  # an option's ridge is that of K = 100
LOSS = Loss(x_max=20.0, alpha=0.75, background=0.05, ridge=1.0 * TO_100)


@pytest.fixture(params=DEVICES)
def ops(request):
    with Pool(2) as pool:
        yield get_ops(request.param, pool)


@pytest.fixture(scope="module")
def counted(tmp_path_factory):
    """PPMI on every pair that was counted, and the counts, of which a third are 0."""
    counts = random_counts(np.random.default_rng(40), V)
    stored = store_matrix(tmp_path_factory.mktemp("weighted") / "cooc", counts)
    with Pool(1) as pool:
        targets, values = WeightedMatrix(stored, PmiOptions(), pool).with_counts()
    assert 0 < np.count_nonzero(targets.data) < targets.nnz < V * V
    return targets, values


def brute_force(v, u, counted, loss):
    """Return the objective, pair by pair and term by term."""
    targets, counts = counted
    v, u = v.astype(float), u.astype(float)
    C = to_dense(Csr(targets.indptr, targets.indices, counts, V)).astype(float)
    c = np.where(C > 0, np.minimum(1.0, (C / loss.x_max) ** loss.alpha), 0.0)
    X = v @ u.T
    total = (c * (to_dense(targets) - X) ** 2).sum() + loss.background * (X**2).sum()
    ridge = loss.ridge * (v.shape[1] / 100) ** 2
    return total + ridge * ((v**2).sum() + (u**2).sum())


def swept(ops, counted, loss, halves, tol, *, K=K, dtype=np.float64, start=None):
    """Yield the state of weighted sweeps after each half."""
    targets, counts = counted
    drawn = np.random.default_rng(41).standard_normal((targets.rows, K)) if start is None else start
    state = State(ops.tall(drawn, dtype), ops.tall(drawn, dtype))
    # Weights as wide as the vectors, so that float64 is float64 throughout.
    weights = confidences(counts.copy(), loss).astype(dtype)
    targets = Csr(targets.indptr, targets.indices, targets.data.astype(dtype), targets.columns)
    solver, worst = ops.row_solver(targets, weights), zero_objective(targets, weights)
    sweeps = SquaredSweeps(solver, worst, loss.penalty(K), ops)
    for _ in half_sweeps(state, sweeps, halves, tol):
        yield state


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
@pytest.mark.parametrize(
    "loss", [LOSS, Loss(1.0, 0.0, 0.0, 0.3 * TO_100), Loss(5.0, 2.0, 1.0, 10.0 * TO_100)]
)
def test_the_reported_objective_is_exact_and_decreases(ops, counted, dtype, tol, loss):
    """At a half's end, even where rows end early: what is reported is of the vectors there are."""
    reported = []
    for state in swept(ops, counted, loss, 8, tol, dtype=dtype):
        v, u = ops.to_numpy(state.v), ops.to_numpy(state.u)
        wanted = brute_force(v, u, counted, loss)
        rtol = 2e-6 if dtype == np.float32 else 1e-6  # counts and weights are float32
        np.testing.assert_allclose(state.objectives[-1], wanted, rtol=rtol)
        reported.append(state.objectives[-1])
        assert state.halves == len(reported)
        assert state.missed == 0
    assert len(reported) == 8
    assert (np.diff(reported) < 0).all()


def test_the_first_half_is_below_the_start(ops, counted):
    start = np.random.default_rng(42).standard_normal((V, K))
    state = next(swept(ops, counted, LOSS, 2, 1e-2, start=start))
    assert state.objectives[0] < brute_force(start, start, counted, LOSS)
    assert np.array_equal(ops.to_numpy(state.v), start)  # held


@pytest.mark.parametrize("ops", ["cpu"], indirect=True)
def test_sweeps_end_at_a_minimum(ops, counted):
    *_, state = swept(ops, counted, LOSS, 200, 1e-9)
    v, u = ops.to_numpy(state.v), ops.to_numpy(state.u)
    here, rng = brute_force(v, u, counted, LOSS), np.random.default_rng(43)
    for _ in range(20):
        other = [x + 1e-2 * rng.standard_normal(x.shape) for x in (v, u)]
        assert brute_force(other[0], other[1], counted, LOSS) > here


@pytest.mark.parametrize("ops", ["cpu"], indirect=True)
@pytest.mark.parametrize("background", [0.0, 0.5])
@pytest.mark.parametrize("ridge", [1e-6, 1.0])
def test_with_equal_weights_the_fit_is_a_thresholded_svd(ops, background, ridge):
    """The best X of rank K has singular values (σ − λ) / (1 + c₀), of those above λ.

    Σ (g − x)² + c₀ x² is (1 + c₀) Σ (x − g / (1 + c₀))² and a constant, and the least of λ (‖V‖² +
    ‖U‖²) over all VUᵀ = X is 2λ times the sum of X's singular values (Srebro, Rennie and Jaakkola
    2005), which is least where they are what is above λ (Cai, Candès and Shen 2010).
    """
    rng = np.random.default_rng(44)
    values = np.array([9.0, 6.0, 4.0, 2.0, 0.9, *np.linspace(0.3, 0, 25)])
    left = np.linalg.qr(rng.standard_normal((30, 30)))[0]
    signs = np.where(np.arange(30) % 2, -1.0, 1.0)
    G = (left * values * signs) @ left.T  # symmetric, and not semidefinite
    targets, rank = to_csr(G), 5
    assert targets.nnz == 900
    loss = Loss(1.0, 0.0, background, ridge * (100 / rank) ** 2)
    *_, state = swept(
        ops, (targets, np.ones(900, np.float32)), loss, 120, 1e-10, K=rank, start=G[:, :rank]
    )
    kept = np.maximum(values[:rank] - ridge, 0.0) / (1 + background)
    X = ops.to_numpy(state.v) @ ops.to_numpy(state.u).T
    wanted = (left[:, :rank] * kept * signs[:rank]) @ left[:, :rank].T
    np.testing.assert_allclose(X, wanted, atol=1e-5)
    least = ((G - X) ** 2).sum() + background * (X**2).sum() + 2 * ridge * kept.sum()
    assert state.objectives[-1] == pytest.approx(least, rel=1e-4)


def test_the_ridge_grows_with_the_square_of_the_dimension_up_to_300():
    loss = Loss(20.0, 0.5, 0.25, 3.0)
    penalties = [loss.penalty(K) for K in (100, 200, 300, 1000)]
    assert [h.ridge for h in penalties] == pytest.approx([3.0, 12.0, 27.0, 27.0])
    assert {h.background for h in penalties} == {0.25}


def test_confidences_in_closed_form(monkeypatch):
    counts = np.array([0.2, 1.0, 5.0, 20.0, 20.5, 4e9], np.float32)
    wanted = [0.1, 0.5**0.5 / 10**0.5, 0.5, 1.0, 1.0, 1.0]
    for step in (1 << 22, 4, 1):
        monkeypatch.setattr(weighted_sweeps, "_STEP", step)
        found = confidences(counts.copy(), Loss(20.0, 0.5, 0.0, 1.0))
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        assert (confidences(counts.copy(), Loss(20.0, 0.0, 0.0, 1.0)) == 1.0).all()


# ── States ───────────────────────────────────────────────────────────────────────────────────


FACTS = {"anchors": 9, "effective_rank": 3}


class InMemory:
    """A checkpoint in memory."""

    def __init__(self, arrays):
        self.arrays = arrays

    def restore(self):
        return self.arrays

    def save(self, state):
        self.arrays = state()


def test_a_restored_state_equals_the_saved_one(ops):
    v, u = (np.random.default_rng(seed).standard_normal((9, 3)) for seed in (1, 2))
    made = State(ops.tall(v, "f4"), ops.tall(u, "f4"), [5.0, 1.0 / 3.0], 17, 2, FACTS)
    found = restored(InMemory(saved(made, ops)), ops)
    assert found is not None
    assert ops.to_numpy(found.v).tobytes() == v.astype("f4").tobytes()
    assert ops.to_numpy(found.u).tobytes() == u.astype("f4").tobytes()
    assert (found.objectives, found.steps, found.missed) == (made.objectives, 17, 2)
    assert (found.facts, found.halves) == (FACTS, 2)
    assert restored(InMemory(None), ops) is None


TRAIN = ["train", "cooc", "--method", "gbu", "--dim", "6", "--anchor-choice", "random"]


@pytest.mark.parametrize("halves", [1, 2, 3])
def test_a_resumed_run_gives_the_same_bytes(tmp_path, monkeypatch, halves):
    monkeypatch.chdir(tmp_path)
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(45), 200))
    with interrupted_after(halves):
        assert main([*TRAIN, "--checkpoint", "0"]) == 75
    assert not Path("vectors.bin").exists()
    assert main([*TRAIN, "-o", "whole.bin"]) == 0
    with monkeypatch.context() as patch:
        patch.setattr("wordgeom.methods.gbu.algorithm1.build_up", None)  # would fail if called
        assert main([*TRAIN, "--resume", "--threads", "2"]) == 0
    assert Path("vectors.bin").read_bytes() == Path("whole.bin").read_bytes()
    names = ("vectors.bin.json", "whole.bin.json")
    here, there = (json.loads(Path(name).read_text()) for name in names)
    assert here["statistics"] == there["statistics"]
    assert len(here["statistics"]["objective"]) == 6
    assert not Path(".vectors.bin.state").exists()
