"""The logistic loss by brute force over all pairs: how it falls, and what thinning leaves."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from interruptions import interrupted_after
from matrices import random_counts, store_matrix, to_csr, to_dense

from wordgeom.cli import main
from wordgeom.linalg.device import get_ops
from wordgeom.linalg.logistic_rows import curvature, softplus
from wordgeom.matrices.opening import open_matrix
from wordgeom.methods.gbu import logistic_sweeps, size_rules
from wordgeom.methods.gbu.finish import half_sweeps
from wordgeom.methods.gbu.logistic_sweeps import LogisticLoss, thinned
from wordgeom.methods.gbu.sweep_state import State
from wordgeom.runtime.pool import Pool
from wordgeom.vectors.keyed import read_vectors

DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]
V, K = 40, 5
LOSS = LogisticLoss(alpha=0.75, negative=2.0, smoothing=0.75, shrinkage=0.01, thin=1e-3)


@pytest.fixture(params=DEVICES)
def ops(request):
    with Pool(2) as pool:
        yield get_ops(request.param, pool)


def card_statistics(name):
    return json.loads(Path(f"{name}.bin.json").read_text())["statistics"]


def counted(seed=3):
    """Return symmetric counts (V × V), dense."""
    return random_counts(np.random.default_rng(seed), V).astype(np.float32)


def expected_counts(counts, loss):
    """Return thinned counts and expected counts, both tempered, pair by pair."""
    sums = counts.sum(1, dtype=float)
    rate = (loss.thin or 1.0) / (sums / sums.sum())
    kept = np.minimum(1.0, np.sqrt(rate) + rate)
    thin = counts * np.outer(kept, kept)
    smooth = sums**loss.smoothing
    N = loss.negative * np.outer(thin.sum(1), smooth / smooth.sum())
    return thin**loss.alpha, N**loss.alpha


def brute_force(v, u, counts, loss):
    """Return the bounded loss, pair by pair and term by term."""
    C, N = expected_counts(counts, loss)
    x = v.astype(float) @ u.astype(float).T - loss.alpha * np.log(loss.negative)
    bound = curvature(1.0) * (x * x - 1.0) + (x - 1.0) / 2.0 + softplus(1.0)
    assert np.all(bound >= np.logaddexp(0.0, x) - 1e-12)
    ridges = loss.shrinkage * np.sqrt(np.maximum(C.sum(1), 1.0))
    return np.sum(C * np.logaddexp(0.0, -x) + N * bound) + ridges @ np.sum(v**2 + u**2, axis=1)


def swept(ops, counts, loss, halves):
    """Return the start and the state after some half sweeps, and every state's loss."""
    csr = to_csr(counts)
    rng = np.random.default_rng(4)
    v, u = (0.1 * rng.standard_normal((V, K)) for _ in range(2))
    state = State(ops.tall(v, np.float64), ops.tall(u, np.float64))
    sweeps = loss.sweeps(csr, csr.data.astype(np.float32), K, ops)
    seen = [brute_force(v, u, counts, loss)]
    for _ in half_sweeps(state, sweeps, halves, 1e-8):
        seen.append(brute_force(ops.to_numpy(state.v), ops.to_numpy(state.u), counts, loss))
    sweeps.finish(state)
    return state, seen


def test_the_objectives_are_the_losses_after_each_half_sweep(ops):
    state, seen = swept(ops, counted(), LOSS, 6)
    np.testing.assert_allclose(state.objectives, seen[1:], rtol=1e-5)
    np.testing.assert_allclose(state.facts["objective_at_start"], seen[0], rtol=1e-5)


def test_the_bound_less_its_gap_is_the_exact_loss(ops):
    state, _ = swept(ops, counted(), LOSS, 6)
    v, u = (ops.to_numpy(side).astype(float) for side in (state.v, state.u))
    C, N = expected_counts(counted(), LOSS)
    ridges = LOSS.shrinkage * np.sqrt(np.maximum(C.sum(1), 1.0))
    x = v @ u.T - LOSS.alpha * np.log(LOSS.negative)
    exact = np.sum(C * np.logaddexp(0.0, -x) + N * np.logaddexp(0.0, x))
    exact += ridges @ np.sum(v**2 + u**2, axis=1)
    gap, error = state.facts["bound_gap"], state.facts["bound_gap_error"]
    assert 0.0 < 5 * error < gap
    assert abs(state.objectives[-1] - gap - exact) < 5 * error + 1e-5 * exact


def test_the_loss_falls_at_every_half_sweep_once_vectors_are_near(ops):
    _, seen = swept(ops, counted(), LOSS, 16)
    assert np.all(np.diff(seen[8:]) < 0.0)
    assert seen[8] < seen[0]


def test_relaxation_lowers_the_loss_sooner(ops, monkeypatch):
    state, _ = swept(ops, counted(), LOSS, 12)
    monkeypatch.setattr(logistic_sweeps, "_RELAXATION", 1.0)
    plain, _ = swept(ops, counted(), LOSS, 12)
    assert state.objectives[5] == plain.objectives[5]  # the first half of the sweeps is the same
    assert state.objectives[-1] < plain.objectives[-1]


@pytest.mark.parametrize("alpha", [1.0, 0.5])
def test_thinning_and_tempering_pair_by_pair(alpha):
    counts, loss = counted(7), LogisticLoss(alpha, 5.0, 0.75, 1.0, 1e-3)
    C, N = expected_counts(counts, loss)
    made = thinned(to_csr(counts), loss)
    np.testing.assert_allclose(to_dense(made.counts), C, rtol=1e-5)
    np.testing.assert_allclose(np.outer(made.words, made.contexts), N, rtol=1e-5)


def test_unobserved_pairs_end_below_those_observed_often(ops):
    state, _ = swept(ops, counted(), LOSS, 10)
    x = ops.to_numpy(state.v) @ ops.to_numpy(state.u).T + LOSS.shift
    C, N = expected_counts(counted(), LOSS)
    assert x[C > 2 * N].mean() > 0.0 > x[C == 0].mean()


@pytest.mark.parametrize(
    ("rule", "tokens", "value", "power", "least", "most"),
    [
        (size_rules.shrinkage, 17_000_000, 0.2, -0.25, 0.2, 0.5),
        (size_rules.thin, 20_000_000, 1e-3, -4.0, 1e-4, 1e-3),
        (size_rules.power, 40_000_000, 0.375, -1 / 3, 0.25, 0.375),
    ],
)
def test_rules_are_bounded_powers_of_the_tokens_per_number(rule, tokens, value, power, least, most):
    assert rule(tokens, 100) == pytest.approx(value)
    for share in (0.5, 2.0):
        expected = min(max(value * share**power, least), most)
        assert rule(int(share * tokens), 100) == pytest.approx(expected)
        assert rule(int(share * tokens), 25) == rule(int(4 * share * tokens), 100)
    found = [rule(10**n, 300) for n in range(4, 12)]
    assert found == sorted(found, reverse=True)
    assert (found[0], found[-1]) == (most, least)
    assert rule(0, 1) == most


@pytest.mark.parametrize("thin", [0.002, 0.02, 0.0])
def test_words_are_thinned_beyond_a_share_of_the_counts(thin):
    counts = counted(5)
    loss = replace(LOSS, alpha=1.0, thin=thin)
    csr = to_csr(counts)
    found = thinned(csr, loss).counts
    assert np.allclose(to_dense(found), expected_counts(counts, loss)[0], rtol=1e-5)
    if not thin:
        assert np.array_equal(to_dense(found), counts)
    else:
        assert to_dense(found).sum() < counts.sum()


@pytest.mark.parametrize(
    ("name", "rule", "given", "rarest"),
    [
        ("shrinkage", size_rules.shrinkage, 0.3, 200),
        ("thin", size_rules.thin, 0.01, 1000),
        ("eig", size_rules.power, 0.4, 2000),
    ],
)
def test_the_run_card_records_what_a_rule_gave_or_was_given(
    tmp_path, monkeypatch, name, rule, given, rarest
):
    """rarest: occurrences of the rarest word; no rule is at its bounds."""
    monkeypatch.chdir(tmp_path)
    counts = random_counts(np.random.default_rng(45), 60)
    frequencies = rarest * np.arange(60, 0, -1)
    store_matrix(tmp_path / "cooc", counts, frequencies=frequencies)
    tokens = int(open_matrix(tmp_path / "cooc").vocabulary.counts.sum())
    assert rule(tokens // 2, 6) > rule(tokens, 6) > rule(2 * tokens, 6)
    train = ["train", "cooc", "--method", "gbu", "--dim", "6", "-o", "v.bin", "--force"]
    for options, expected in (([], rule(tokens, 6)), ([f"--{name}", f"{given}"], given)):
        assert main([*train, *options]) == 0
        assert card_statistics("v")[name] == expected


@pytest.mark.parametrize("halves", [1, 3])
def test_a_resumed_run_gives_the_same_bytes(tmp_path, monkeypatch, halves):
    monkeypatch.chdir(tmp_path)
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(45), 200))
    train = ["train", "cooc", "--method", "gbu", "--dim", "6"]
    with interrupted_after(halves):
        main([*train, "-o", "some.bin", "--checkpoint", "0"])
    assert main([*train, "-o", "some.bin", "--resume"]) == 0
    assert main([*train, "-o", "whole.bin", "--threads", "1"]) == 0
    assert Path("some.bin").read_bytes() == Path("whole.bin").read_bytes()
    cards = [card_statistics(name) for name in ("some", "whole")]
    assert cards[0]["objective"] == cards[1]["objective"]
    assert np.isfinite(read_vectors(Path("whole.bin")).matrix).all()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["--x-max", "5"], "--x-max has no effect with --loss logistic"),
        (["--loss", "squared", "--temper", "0.5"], "--temper has no effect with --loss squared"),
        (["--loss", "logistic", "--no-weighted"], "--loss has no effect with --no-weighted"),
        (["--loss", "hinge"], "--loss"),
    ],
)
def test_options_of_the_other_loss_are_refused(tmp_path, monkeypatch, capsys, given, message):
    monkeypatch.chdir(tmp_path)
    store_matrix(tmp_path / "cooc", random_counts(np.random.default_rng(45), 50))
    assert main(["train", "cooc", "--method", "gbu", "--dim", "6", *given]) == 2
    assert message in capsys.readouterr().err
