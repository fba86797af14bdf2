"""Gradient descent: eq. 13 by brute force, its gradient and minimum, stops, resumed runs."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interruptions import interrupted_after
from matrices import random_counts, store_matrix

import wordgeom as wg
from wordgeom.core.errors import InputError, OptionError, RankError, UnavailableError
from wordgeom.methods.contract import Status
from wordgeom.methods.gbu.algorithm1 import build_up
from wordgeom.vectors.run_card import read_card

torch = pytest.importorskip("torch", reason="Torch is not installed: pip install 'wordgeom[gpu]'")
pytestmark = pytest.mark.torch

from wordgeom.methods.sgd import descent  # noqa: E402
from wordgeom.methods.sgd.dense import descend, noisy_gram, random_start, score  # noqa: E402
from wordgeom.methods.sgd.descent import Settings  # noqa: E402
from wordgeom.methods.sgd.method import Options  # noqa: E402
from wordgeom.methods.sgd.objective import DenseTargets, Pairs, SparseTargets  # noqa: E402

V, K, M = 40, 3, 9
FULL = Settings("adam", rate=1e-2, epochs=4000, enough=1e-12)


@pytest.fixture
def rng():
    return np.random.default_rng(17)


@pytest.fixture(scope="module")
def counts(tmp_path_factory):
    """Counts of 60 words with Zipf-like frequencies, two of which co-occur with no frequent one."""
    full = random_counts(np.random.default_rng(40), 60)
    full[50], full[:, 50] = 0, 0
    full[51, :52], full[:52, 51] = 0, 0
    full[50, 52] = full[52, 50] = 3
    return store_matrix(tmp_path_factory.mktemp("sgd") / "cooc", full)


def brute_force(G, vectors, m):
    """Return eq. 13 as it is printed, pair by pair."""
    n = len(G)
    inside = [(i, j) for i in range(m) for j in range(i, m)]
    outside = [(i, j) for i in range(m, n) for j in range(m)]
    assert len(inside) + len(outside) == m * (m + 1) // 2 + m * (n - m)
    terms = [(vectors[i] @ vectors[j] - G[i, j]) ** 2 for i, j in inside + outside]
    return math.fsum(terms) / len(terms)


def train(counts, **options):
    given: Any = {"dim": 4, "anchors": 12, "weighting": "ppmi"} | options
    return wg.train(counts.path, "sgd", **given)


# ── The objective ────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("m", [K, M, V - 1, V])
def test_the_score_is_the_printed_sum_over_pairs_with_a_reference(rng, m):
    G, vectors = noisy_gram(V, K, 0.1, rng), rng.standard_normal((V, K))
    assert score(G, vectors, m) == pytest.approx(brute_force(G, vectors, m), rel=1e-12)


def pairs_of(G, anchors, sparse):
    columns = np.ascontiguousarray(G[:, anchors])
    if not sparse:
        return Pairs(DenseTargets(columns), anchors, len(G))
    from matrices import to_csr

    return Pairs(SparseTargets(to_csr(columns), "cpu"), anchors, len(G))


@pytest.mark.parametrize("sparse", [False, True])
def test_the_gradient_is_that_of_finite_differences(rng, sparse):
    """Also where anchors are not the first words, and most pairs never co-occurred."""
    anchors = np.array([2, 3, 11, 30])
    G = noisy_gram(V, K, 0.1, rng) * np.kron(rng.random((8, 8)) < 0.5, np.ones((5, 5)))
    G = np.triu(G) + np.triu(G, 1).T
    G[7] = G[:, 7] = 0.0
    pairs, vectors = pairs_of(G, anchors, sparse), torch.from_numpy(rng.standard_normal((V, K)))
    rows = torch.from_numpy(rng.permutation(V))
    slope = pairs.slope(rows, vectors[rows], vectors[anchors])
    whole = torch.zeros_like(vectors)
    whole[rows] = slope.rows
    whole[anchors] = slope.anchors
    for i, k in [(0, 0), (7, 1), (39, 2), *((a, k) for a in anchors for k in range(K))]:
        sums = []
        for step in (1e-6, -1e-6):
            moved = vectors.clone()
            moved[i, k] += step
            sums.append(pairs.squares(rows, moved[rows], moved[anchors]))
        assert (sums[0] - sums[1]) / 2e-6 == pytest.approx(float(whole[i, k]), rel=1e-5, abs=1e-5)


def test_batches_add_up_to_all_pairs_and_their_gradients(rng):
    anchors, G = np.array([1, 4, 6]), noisy_gram(V, K, 0.1, rng)
    pairs, vectors = pairs_of(G, anchors, sparse=False), torch.from_numpy(random_start(V, K, rng))
    parts = torch.from_numpy(rng.permutation(V)).split(7)
    whole = pairs.slope(torch.arange(V), vectors, vectors[anchors])
    slopes = [pairs.slope(part, vectors[part], vectors[anchors]) for part in parts]
    assert sum(pairs.among(part) for part in parts) == pairs.number
    assert sum(slope.squares for slope in slopes) == pytest.approx(whole.squares)
    np.testing.assert_allclose(sum(slope.anchors for slope in slopes), whole.anchors)


def test_the_synthetic_problem_has_noise_relative_to_each_entry():
    exact, noisy = (noisy_gram(300, 5, eta, np.random.default_rng(1)) for eta in (0.0, 0.1))
    assert np.array_equal(noisy, noisy.T)
    assert np.linalg.matrix_rank(exact) == 5
    np.testing.assert_allclose(exact.sum(0), 0.0, atol=1e-9)  # centred points
    relative = ((noisy - exact) / np.abs(exact))[np.triu_indices(300, 1)]
    assert relative.std() == pytest.approx(0.1, rel=0.02)
    assert relative.mean() == pytest.approx(0.0, abs=0.002)
    assert noisy_gram(300, 5, 5.0, np.random.default_rng(1)).diagonal().min() == 0.0


# ── Descent ──────────────────────────────────────────────────────────────────────────────────


def test_adam_in_full_batches_is_that_of_torch(rng):
    G, start = noisy_gram(V, K, 0.1, rng), random_start(V, K, rng)
    own = descend(G, start, M, Settings("adam", rate=0.05, epochs=25))
    theirs, g = torch.from_numpy(start.copy()).requires_grad_(), torch.from_numpy(G)
    i, j = np.array([(i, j) for i in range(V) for j in range(M) if i >= M or j >= i]).T
    optimiser, losses = torch.optim.Adam([theirs], lr=0.05), []
    for _ in range(25):
        optimiser.zero_grad()
        loss = ((theirs[i] * theirs[j]).sum(1) - g[i, j]).square().mean()
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    assert own.losses == pytest.approx(losses)
    np.testing.assert_allclose(own.vectors, theirs.detach().numpy(), atol=1e-9)


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
@pytest.mark.parametrize("batch", [0, 200])
def test_a_full_matrix_of_rank_k_is_reproduced_as_by_its_eigenvectors(rng, optimiser, batch):
    G = noisy_gram(V, K, 0.0, rng)
    rate = 1e-2 if optimiser == "adam" else 0.0
    asked = Settings(optimiser, rate=rate, epochs=4000, batch=batch, enough=1e-10)
    found = descend(G, random_start(V, K, rng), V, asked)
    values, vectors = np.linalg.eigh(G)
    closed = vectors[:, -K:] * np.sqrt(values[-K:])
    assert score(G, closed, V) < 1e-20
    assert found.loss < 1e-6
    np.testing.assert_allclose(found.vectors @ found.vectors.T, closed @ closed.T, atol=1e-3)


def test_noise_is_fitted_at_least_as_well_as_by_eigenvectors_of_the_full_matrix(rng):
    """They are best for ½ Σ_i≠j + Σ_i=j weighed equally; eq. 13 counts a pair once."""
    G = noisy_gram(V, K, 0.3, rng)
    values, vectors = np.linalg.eigh(G)
    closed = vectors[:, -K:] * np.sqrt(values[-K:])
    assert descend(G, closed, V, FULL).loss < score(G, closed, V)


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_the_loss_falls_with_every_epoch_at_a_small_rate(rng, optimiser):
    G, start = noisy_gram(V, K, 0.05, rng), random_start(V, K, rng)
    asked = Settings(optimiser, rate=1e-4 if optimiser == "adam" else 1e-2, epochs=100)
    found = descend(G, start, M, asked)
    assert found.losses[0] == pytest.approx(score(G, start, M))
    assert (np.diff([*found.losses, found.loss]) < 0.0).all()
    assert not found.reached


def test_descent_stops_below_a_loss_or_where_it_no_longer_changes(rng):
    G, start = noisy_gram(V, K, 0.0, rng), random_start(V, K, rng)
    low = descend(G, start, V, replace(FULL, enough=1e-3))
    assert low.reached
    assert low.losses[-1] < 1e-3 <= low.losses[-2]
    noisy = noisy_gram(V, K, 0.5, rng)
    flat = descend(noisy, start, V, replace(FULL, enough=0.0, tol=1e-4))
    assert flat.reached
    assert 10 < len(flat.losses) < FULL.epochs
    assert abs(flat.losses[-11] - flat.losses[-1]) <= 1e-4 * flat.losses[-11]
    assert not descend(G, start, V, replace(FULL, epochs=11, tol=1e-9)).reached


@pytest.mark.parametrize(
    ("asked", "say"),
    [
        (Settings("sgd", rate=1e3, epochs=50), "--rate 1000 diverges: the loss at step "),
        (Settings("sgd", rate=1e30, epochs=50, batch=40), "lower --rate, for example to 1e+29"),
        (Settings("adam", rate=3.0, epochs=50), "at step 11 (epoch 11) is"),
    ],
)
def test_divergence_names_the_step_and_the_rate_in_a_line(rng, asked, say):
    G, start = noisy_gram(V, K, 0.1, rng), random_start(V, K, rng)
    with pytest.raises(OptionError) as caught:
        descend(G, start, M, asked)
    assert say in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("batch", [0, 30])
def test_the_rate_of_sgd_is_safe_unless_given(rng, batch):
    for scale in (1e-2, 1.0, 1e3):
        G = scale * noisy_gram(V, K, 0.1, rng)
        for start in (random_start(V, K, rng), random_start(V, K, rng, 100.0)):
            found = descend(G, start, M, Settings("sgd", rate=0.0, epochs=30, batch=batch))
            assert found.loss < found.losses[0]


# ── The method ───────────────────────────────────────────────────────────────────────────────


def test_the_start_is_the_build_up_which_descent_improves(counts, tmp_path):
    from wordgeom.linalg.device import get_ops
    from wordgeom.runtime.pool import Pool
    from wordgeom.weighting.options import PmiOptions
    from wordgeom.weighting.pmi import WeightedMatrix

    anchors = np.arange(12)
    with Pool(1) as pool:
        columns = WeightedMatrix(counts, PmiOptions(), pool).columns(anchors)
        built = build_up(columns, anchors, 4, 0.5, get_ops("cpu", pool)).vectors
    pairs = Pairs(SparseTargets(columns, "cpu"), anchors, 60)
    built = torch.from_numpy(built)
    start = pairs.squares(torch.arange(60), built, built[anchors]) / pairs.number
    result = train(counts, batch=0, epochs=30)
    assert result.statistics["losses"][0] == pytest.approx(start, rel=1e-5)
    assert result.statistics["loss"] < start
    G = np.zeros((60, 12))
    G[columns.entry_rows, columns.indices] = columns.data
    assert result.statistics["loss"] == pytest.approx(brute_force(G, result.vectors, 12), rel=1e-4)
    assert result.statistics["pairs"] == 12 * 13 // 2 + 12 * 48


def test_any_start_and_batch_end_at_one_minimum(counts):
    """PPMI of rank above K: the minimum is not 0, and Adam finds it from either start."""
    runs = [
        train(counts, epochs=3000, rate=3e-3, tol=1e-7, batch=batch, start=start, seed=seed)
        for batch, start, seed in [(0, "build-up", 1), (0, "random", 2), (100, "build-up", 3)]
    ]
    losses = [run.statistics["loss"] for run in runs]
    assert max(losses) < 1.02 * min(losses)
    assert losses[0] < 0.9 * runs[0].statistics["losses"][0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_exact_solution_is_left_as_it_is(tmp_path, rng, dtype):
    """The build-up solves a matrix of rank K, from which a step of Adam would lead away."""
    G = noisy_gram(50, K, 0.0, rng).astype(dtype)
    store_matrix(tmp_path / "pmi", G, kind="pmi")
    for optimiser in ("adam", "sgd"):
        result = wg.train(tmp_path / "pmi", "sgd", dim=K, anchors=9, optimiser=optimiser)
        assert (result.status, result.statistics["steps"]) == ("converged", 0)
        np.testing.assert_allclose(result.vectors @ result.vectors.T, G, atol=1e-5 * G.max())


def test_words_without_an_anchor_have_zero_vectors_and_are_counted(counts):
    for start in ("build-up", "random"):
        result = train(counts, start=start, epochs=5)
        assert result.statistics["zero_vectors"] == 2
        assert not result.vectors[50:52].any()
        assert np.any(result.vectors[:50], axis=1).all()
        assert any("2 words do not co-occur with any of the 12 anchors" in n for n in result.notes)


def test_columns_are_principal_axes_in_order(counts):
    vectors = train(counts, start="random", epochs=20).vectors.astype(float)
    gram = vectors.T @ vectors
    assert (np.diff(gram.diagonal()) < 0).all()
    np.testing.assert_allclose(gram - np.diag(gram.diagonal()), 0.0, atol=1e-4 * gram[0, 0])


def test_a_missed_tolerance_is_a_status_and_a_note(counts):
    missed = train(counts, epochs=40, tol=1e-6)
    assert missed.status == Status.REACHED_BUDGET.value
    assert any("missed tol=1e-06; raise epochs= or rate=" in note for note in missed.notes)
    met = train(counts, epochs=3000, tol=1e-2)
    assert met.status == Status.CONVERGED.value
    assert met.statistics["epochs"] < 3000
    assert not any("loss" in note for note in met.notes)


def test_the_loss_curve_of_a_long_run_is_sampled(counts):
    statistics = train(counts, epochs=600, tol=0.0).statistics
    at, losses = statistics["loss_epochs"], statistics["losses"]
    assert (at[0], at[-1]) == (1, 600)
    assert at == sorted(set(at))
    assert len(at) == len(losses) <= 200
    few = train(counts, epochs=40, tol=0.0).statistics
    assert few["loss_epochs"] == list(range(1, 41))
    assert losses[:10] == few["losses"][:10]


def test_the_published_run_is_adam_at_random_for_a_thousand_epochs_on_pmi(counts):
    result = wg.train(counts.path, "sgd", dim=4, as_published=True)
    request = result.statistics
    assert (request["anchors"], request["epochs"], request["steps"]) == (16, 1000, 1000)
    assert request["rate"] == 1e-3
    assert any("in 1,000 epochs, not below 0.001" in note for note in result.notes)
    assert any("not as published" in note for note in result.notes), result.notes
    assert not any("not as published" in note for note in train(counts, epochs=1).notes)
    assert (
        wg.train(counts.path, "sgd", dim=4, as_published=True, rate=0.1, seed=2).statistics["loss"]
        < request["loss"]
    )


def test_bytes_do_not_depend_on_threads_or_torch_s(counts, monkeypatch):
    monkeypatch.setitem(descent._BLOCK, "cpu", 100)  # several blocks in a batch
    made = set()
    for threads, own in [(1, 1), (2, 3), (4, 2)]:
        before = torch.get_num_threads()
        torch.set_num_threads(own)
        try:
            made.add(train(counts, epochs=15, batch=300, threads=threads).vectors.tobytes())
            assert torch.get_num_threads() == own
        finally:
            torch.set_num_threads(before)
    assert len(made) == 1
    assert train(counts, epochs=15, batch=300, seed=2).vectors.tobytes() not in made


TRAIN = ("train", "cooc", "--method", "sgd", "--dim", "4", "--anchors", "12", "--batch", "200",
         "--epochs", "25", "--tol", "0")  # fmt: skip


@pytest.mark.parametrize("optimiser", ["adam", "sgd"])
def test_a_resumed_run_gives_the_same_bytes(ask, counts, tmp_path, monkeypatch, optimiser):
    monkeypatch.chdir(tmp_path)
    Path("cooc").symlink_to(counts.path)
    line = (*TRAIN, "--optimiser", optimiser, "--checkpoint", "0")
    assert ask(*line, "-o", "whole.bin").status == 0
    with interrupted_after(7):
        assert ask(*line).status == 75
    assert ask(*line, "--resume", "--threads", "3").status == 0
    assert Path("vectors.bin").read_bytes() == Path("whole.bin").read_bytes()
    cards = [read_card(Path(name)) or {} for name in ("vectors.bin", "whole.bin")]
    assert cards[0]["statistics"] == cards[1]["statistics"]


def test_a_killed_run_is_resumed_with_the_same_bytes(ask, counts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cooc").symlink_to(counts.path)
    line = [*TRAIN, "--checkpoint", "0"]
    assert ask(*line, "-o", "whole.bin").status == 0
    code = (
        "import os, signal, sys; from interruptions import interrupted_after\n"
        "from wordgeom.cli import main\n"
        "import interruptions\n"
        "class Killed(BaseException):\n"
        "    def __init__(self): os.kill(os.getpid(), signal.SIGKILL)\n"
        "interruptions.KeyboardInterrupt = Killed\n"
        "with interrupted_after(7): main(sys.argv[1:])\n"
    )
    found = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code, *line], check=False, env=found)
    assert done.returncode == -signal.SIGKILL
    assert not Path("vectors.bin").exists()
    assert ask(*line, "--resume").status == 0
    assert Path("vectors.bin").read_bytes() == Path("whole.bin").read_bytes()


# ── Invalid input ────────────────────────────────────────────────────────────────────────────


def test_a_run_that_diverges_is_explained_in_a_line(ask, counts, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("cooc").symlink_to(counts.path)
    answer = ask(*TRAIN, "--optimiser", "sgd", "--rate", "1e9")
    assert (answer.status, answer.err.count("\n")) == (2, 1)
    assert "--rate 1e+09 diverges: the loss at step" in answer.err
    assert not Path("vectors.bin").exists()


def test_without_torch_a_line_names_the_package(counts, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(UnavailableError) as caught:
        train(counts)
    assert str(caught.value).startswith("sgd needs Torch (")
    assert "pip install torch, or train with gbu" in str(caught.value)


@pytest.mark.parametrize(
    ("options", "error", "say"),
    [
        ({"dim": 61}, RankError, "exceeds the number of words, 60"),
        ({"dim": 8, "anchors": 7}, RankError, "exceeds the number of anchors, 7; raise anchors"),
        ({"memory": 1e-5}, InputError, "memory limit"),
        ({"as_published": True, "tol": 1e-3}, OptionError, "as_published"),
    ],
)
def test_what_cannot_be_trained_is_explained_in_a_line(counts, monkeypatch, options, error, say):
    monkeypatch.setattr("wordgeom.runtime.run_options.FLOOR", 0)  # the matrix is small
    with pytest.raises(error) as caught:
        train(counts, **options)
    assert say in str(caught.value)
    assert "\n" not in str(caught.value)


def test_anchors_without_entries_are_explained_in_a_line(tmp_path):
    store_matrix(tmp_path / "pmi", np.zeros((9, 9), np.float32), kind="pmi")
    for start in ("random", "build-up"):
        with pytest.raises(RankError, match="9 anchors co-occur with no word; raise"):
            wg.train(tmp_path / "pmi", "sgd", dim=3, start=start)


def test_a_one_sided_matrix_is_explained_in_a_line(tmp_path, rng):
    counts = random_counts(rng, 20, symmetric=False)
    store_matrix(tmp_path / "cooc", counts, symmetric=False)
    with pytest.raises(InputError, match="sgd needs a symmetric matrix"):
        wg.train(tmp_path / "cooc", "sgd", dim=3)


@pytest.mark.parametrize(
    ("name", "value"),
    [("start", "build-up"), ("optimiser", "sgd"), ("epochs", 10), ("batch", 5), ("tol", 0.1)],
)
def test_the_published_run_excludes_other_settings(name, value):
    given = {"as_published": True, name: value}
    with pytest.raises(OptionError, match=f"--as-published excludes --{name} {value}"):
        Options.asked(given)
    assert (
        Options.asked({"as_published": True, "epochs": 1000, "rate": 0.1}).settings(1).rate == 0.1
    )


def test_help_does_not_import_torch():
    code = "import sys; from wordgeom.methods.sgd import method; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
