"""Quadratic problems against dense eigenvectors and dense linear systems; the stochastic method."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from graphs_for_tests import Square, dense, random_pairs, two_terms

from wordgeom.linalg.numpy_ops import NumpyOps
from wordgeom.methods.mde import quadratic
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.methods.mde.problem import Problem, Term
from wordgeom.methods.mde.stochastic import Proximal, batches
from wordgeom.optim.constraints import Free, Standardized
from wordgeom.runtime.pool import Pool

N, P = 300, 3000


@pytest.fixture
def pool():
    with Pool(2) as opened:
        yield opened


def optimum(pairs, items, columns):
    """The least Σ w d²/n of standardised columns."""
    return np.linalg.eigvalsh(dense(pairs, items))[1 : columns + 1].sum()


def total(pairs, X):
    return np.sum(X * (dense(pairs, len(X)) @ X)) / len(X)


@pytest.mark.parametrize("way", ["dense", "descended", "lobpcg", "exact"])
@pytest.mark.parametrize("columns", [1, 2, 10])
def test_standardised_squares_reach_the_eigenvectors(monkeypatch, pool, way, columns):
    pairs = random_pairs(np.random.default_rng(1), N, P)
    if way != "dense":
        monkeypatch.setattr(quadratic, "DENSE", 0)
    if way == "descended":
        monkeypatch.setattr(quadratic, "FEW", 0)
    X = quadratic.standardized(pairs, N, columns, pool, seed=1, exact=way == "exact")
    least = optimum(pairs, N, columns)
    assert total(pairs, X) == pytest.approx(least, rel=1e-5 if way in ("dense", "exact") else 5e-3)
    np.testing.assert_allclose(X.T @ X / N, np.eye(columns), atol=1e-5)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-6)
    own = np.diag(X.T @ dense(pairs, N) @ X)
    assert (np.diff(own) > -1e-2 * own[0]).all()


def test_components_are_told_apart_by_the_first_columns(pool):
    rng = np.random.default_rng(2)
    halves = [random_pairs(rng, 20, 60) for _ in range(2)]
    parts = [np.concatenate([half.left + 20 * k for k, half in enumerate(halves)]),
             np.concatenate([half.right + 20 * k for k, half in enumerate(halves)]),
             np.concatenate([half.given for half in halves])]  # fmt: skip
    pairs = Pairs(*(part.astype(kind) for part, kind in zip(parts, "iif", strict=True)))
    X = quadratic.standardized(pairs, 40, 2, pool, seed=1)
    np.testing.assert_allclose(np.abs(X[:, 0]), 1.0, atol=1e-5)
    assert len(set(np.sign(X[:20, 0]))) == len(set(np.sign(X[20:, 0]))) == 1


def test_harmonic_vectors_are_means_of_their_neighbours(pool):
    rng = np.random.default_rng(3)
    pairs, rows = random_pairs(rng, N, P), np.array([4, 90, 200])
    values = rng.standard_normal((3, 2))
    X = quadratic.harmonic(pairs, N, rows, values, pool)
    L, free = dense(pairs, N), np.setdiff1d(np.arange(N), rows)
    exact = np.linalg.solve(L[np.ix_(free, free)], -L[np.ix_(free, rows)] @ values)
    np.testing.assert_allclose(X[free], exact, atol=2e-2)
    np.testing.assert_array_equal(X[rows], values)


def test_batches_hold_every_pair_once():
    rng = np.random.default_rng(4)
    terms = two_terms(rng, 40, 91)
    parts = batches(terms, 30, rng)
    assert [sum(len(term.pairs) for term in part) for part in parts] == [28, 27, 27, 27, 27]
    for k, term in enumerate(terms):
        ends = [(part[k].pairs.left, part[k].pairs.right) for part in parts]
        found = sorted(
            zip(*(np.concatenate(side) for side in zip(*ends, strict=True)), strict=True)
        )
        assert found == sorted(zip(term.pairs.left, term.pairs.right, strict=True))


def test_stochastic_rounds_come_near_the_optimum(pool):
    rng = np.random.default_rng(5)
    n, p, columns, rounds = 100, 1000, 2, 60
    pairs, ops = random_pairs(rng, n, p), NumpyOps(pool)
    terms = [Term(pairs, Square())]
    parts = [Problem(n, part, pool) for part in batches(terms, p // 10, rng)]
    constraint = Standardized(n, ops)
    start = constraint.onto(rng.standard_normal((n, columns)).astype(np.float32))
    run = Proximal(
        Problem(n, terms, pool), parts, ops, rounds=rounds, constraint=constraint, seed=1
    )
    state = run.start(start.copy())
    assert sum(run.iterations(state)) == len(state.values) == rounds
    least = optimum(pairs, n, columns)
    assert least < total(pairs, state.x) < 1.1 * least < 0.7 * total(pairs, start)
    np.testing.assert_allclose(state.x.T @ state.x / n, np.eye(columns), atol=1e-5)
    # tr ∇²E/(n m) of squares is the mean of 2 degrees/p of the first batch.
    mean = 4.0 * parts[0].terms[0].pairs.given.sum() / n / parts[0].size
    assert state.c == pytest.approx(0.035 * mean, rel=0.2)


def test_stochastic_rounds_continue_with_the_same_bytes(pool):
    rng = np.random.default_rng(6)
    ops = NumpyOps(pool)
    terms = two_terms(rng)
    parts = [Problem(40, part, pool) for part in batches(terms, 40, rng)]
    start = rng.standard_normal((40, 2)).astype(np.float32)

    def run(saved, most):
        whole = Problem(40, terms, pool)
        made = Proximal(whole, parts, ops, rounds=9, constraint=Free(), seed=1)
        state = made.start(start.copy()) if saved is None else made.restored(saved)
        for _ in itertools.islice(made.iterations(state), most):
            pass
        return state

    whole, part = run(None, 9), run(None, 4)
    rest = run({k: v.copy() for k, v in part.saved(ops).items()}, 9)
    assert rest.x.tobytes() == whole.x.tobytes()
    assert rest.values == whole.values
