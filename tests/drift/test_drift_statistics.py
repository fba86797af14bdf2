"""F against ordinary regression, observed and under permutations."""

from __future__ import annotations

import numpy as np
import pytest
from drifting import documents, opened, polynomials, regression, verdict_of
from matrices import to_csr

from wordgeom.core.errors import RankError
from wordgeom.drift import by_documents, by_times
from wordgeom.drift.mixture_test import mixture
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.statistics import observe, remove_topics
from wordgeom.drift.time_axis import Axis
from wordgeom.drift.topics import static_topics
from wordgeom.linalg.svd import transpose

CASES = [(hold, q) for hold in (True, False) for q in (1, 2, 3)]
N, P, R = 90, 150, 3  # more words than in a block


@pytest.fixture(scope="module")
def case():
    """Sparse documents at unequal times, words of unequal frequency, and their topics."""
    rng = np.random.default_rng(3)
    times = np.sort(rng.integers(0, 7, N)) * 1.5
    there = rng.random((N, P)) < rng.uniform(0.1, 0.9, P)
    X = (documents(rng, N, P, R) * there).astype(np.float32)
    with opened() as context:
        U = static_topics(to_csr(X), R, context)
    return X, times, U


def words_of(X, U, ops):
    return remove_topics(transpose(to_csr(X)), U, ops)


def test_topics_are_orthonormal_centred_and_optimal(case):
    X, _, U = case
    np.testing.assert_allclose(U.T @ U, np.eye(R), atol=1e-12)
    np.testing.assert_allclose(U.sum(axis=0), 0.0, atol=1e-12)
    centred = X - X.mean(axis=0, dtype=np.float64)
    most = np.linalg.svd(centred, compute_uv=False)[:R]
    np.testing.assert_allclose(np.linalg.norm(U.T @ centred), np.linalg.norm(most), rtol=1e-5)


@pytest.mark.parametrize(("n", "p", "r"), [(30, 4, 4), (5, 30, 4), (30, 8, 3)])
def test_too_many_topics_are_rejected(n, p, r):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3)) @ rng.normal(size=(3, p))  # of rank 3
    with (
        opened() as context,
        pytest.raises(RankError, match="a higher rank than"),
    ):
        static_topics(to_csr(X.astype(np.float32)), r, context)


@pytest.mark.parametrize(("hold", "q"), CASES)
def test_f_and_partial_r2_equal_those_of_ordinary_regression(case, hold, q):
    X, times, U = case
    values = polynomials(times, q)
    with opened() as context:
        found = observe(words_of(X, U, context.ops), Axis.of(times, values), hold, context.ops)
    expected = regression(X.astype(np.float64), U, values, hold)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_f_does_not_depend_on_the_polynomial_basis(case):
    X, times, U = case
    values, powers = polynomials(times, 2), np.column_stack([times, times**2])
    with opened() as context:
        words = words_of(X, U, context.ops)
        (one, _), (other, _) = (
            observe(words, Axis.of(times, v), True, context.ops) for v in (values, powers)
        )
    np.testing.assert_allclose(one, other, rtol=1e-5)


@pytest.mark.parametrize(("hold", "q"), CASES)
def test_permuted_times_equal_regressions_on_permuted_times(case, hold, q):
    X, times, U = case
    axis = Axis.of(times, polynomials(times, q))
    orders = Permutations(np.arange(axis.times, dtype=np.int32), 40, 5, None)
    with opened() as context:
        words = words_of(X, U, context.ops)
        found = by_times.null(words, axis, orders, hold, context)
        same = by_documents.null(words, axis, orders, hold, context, True)
    for row in (0, 1, 17, 40):
        order = np.concatenate(list(orders.blocks(7)))[row]
        F, _ = regression(X.astype(np.float64), U, axis.levels[order][axis.codes], hold)
        np.testing.assert_allclose(found.F[row], F, rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(same.F, found.F, rtol=2e-4, atol=1e-5)
    np.testing.assert_allclose(same.mixture, found.mixture, rtol=1e-9)


@pytest.mark.parametrize(("hold", "q"), [(True, 1), (False, 2), (True, 3)])
@pytest.mark.parametrize("grouped", [False, True])
def test_permuted_documents_equal_regressions_on_permuted_times(case, hold, q, grouped):
    X, times, U = case
    axis, groups = Axis.of(times, polynomials(times, q)), np.arange(N) % 4 if grouped else None
    orders = Permutations(axis.codes, 20, 5, groups)
    with opened() as context:
        found = by_documents.null(words_of(X, U, context.ops), axis, orders, hold, context)
    for row, order in enumerate(np.concatenate(list(orders.blocks(6)))[:4]):
        F, _ = regression(X.astype(np.float64), U, axis.levels[order], hold)
        np.testing.assert_allclose(found.F[row], F, rtol=2e-4, atol=1e-5)
        inside = U.T @ (axis.levels[order].T[:, :, None] * U)
        inside -= axis.levels[order].mean(axis=0)[:, None, None] * np.eye(R)
        np.testing.assert_allclose(found.mixture[row], (inside**2).sum(), rtol=1e-9)


@pytest.mark.parametrize("module", [by_times, by_documents])
def test_the_first_row_is_observed(case, module):
    X, times, U = case
    axis = Axis.of(times, polynomials(times, 2))
    codes = np.arange(axis.times, dtype=np.int32) if module is by_times else axis.codes
    orders = Permutations(codes, 9, 5, None)
    with opened() as context:
        words = words_of(X, U, context.ops)
        null = module.null(words, axis, orders, True, context)
        np.testing.assert_allclose(null.F[0], observe(words, axis, True, context.ops)[0], rtol=1e-4)


def test_bytes_do_not_depend_on_threads_and_memory(case):
    X, times, U = case
    axis = Axis.of(times, polynomials(times, 2))
    by_time = Permutations(np.arange(axis.times, dtype=np.int32), 50, 5, None)
    by_document = Permutations(axis.codes, 20, 5, None)
    found = []
    for threads, memory in ((1, 10**9), (3, 10**9), (2, 1)):
        with opened(threads, memory=memory) as context:
            words = words_of(X, U, context.ops)
            nulls = [
                by_times.null(words, axis, by_time, True, context),
                by_documents.null(words, axis, by_document, True, context),
            ]
            found.append([null.F.tobytes() + null.mixture.tobytes() for null in nulls])
    assert found[0] == found[1] == found[2]


def test_a_topic_at_a_single_time_does_not_inflate_f():
    rng = np.random.default_rng(2)
    times = np.repeat(np.arange(5.0), 20)
    topic = np.where(times == 3, rng.normal(size=100), 0.0)
    X = 5.0 * np.outer(topic, rng.normal(size=8)) + 0.1 * rng.normal(size=(100, 8))
    axis = Axis.of(times, polynomials(times, 1))
    orders = Permutations(np.arange(5, dtype=np.int32), 30, 5, None)
    with opened() as context:
        U = np.linalg.qr(np.column_stack([np.ones(100), topic]))[0][:, 1:]
        words = words_of(X.astype(np.float32), U, context.ops)
        F = by_times.null(words, axis, orders, True, context).F
    assert np.isfinite(F).all()
    assert F.max() < 50.0


def test_the_mixture_statistic_is_0_if_topics_vary_equally_at_all_times():
    from wordgeom.drift.contrasts import Moments

    same = np.eye(4)[None, None] * 0.7  # Zᵀdiag(g)Z with g uncorrelated with U
    second = np.eye(4)[None, None, :, None] * 1.3  # g of mean .7 and mean square 1.3
    assert mixture(Moments(same, second))[0] == pytest.approx(0.0)


def test_the_mixture_statistic_does_not_depend_on_the_polynomial_basis(case):
    X, times, U = case
    values, powers = polynomials(times, 2), np.column_stack([3.0 * times + 1.0, times**2])
    orders = Permutations(np.arange(7, dtype=np.int32), 9, 5, None)
    with opened() as context:
        words = words_of(X, U, context.ops)
        one, other = (
            by_times.null(words, Axis.of(times, v), orders, True, context).mixture
            for v in (values, powers)
        )
    np.testing.assert_allclose(one, other, rtol=1e-6)


@pytest.mark.parametrize("sizes", [[150] + [8] * 9, [8] * 9 + [150], range(6, 46, 4)])
def test_the_mixture_test_keeps_its_level_with_unequal_times(sizes):
    """Permuting times with unequal numbers of documents changes the polynomials' scale."""
    times = np.repeat(np.arange(10.0), list(sizes))
    found = [
        verdict_of(documents(np.random.default_rng(k), len(times), 8, 2), times, 2,
                   permutations=39, seed=k).mixture_p
        for k in range(24)
    ]  # fmt: skip
    assert 0.2 < np.mean(found) < 0.8
    assert np.mean(np.array(found) <= 0.1) <= 0.3


def test_the_smallest_p_is_twice_as_large_for_symmetric_times():
    even, uneven = (Axis.of(t, polynomials(t, 1)) for t in (np.arange(4.0), np.arange(4.0) ** 2))
    assert (even.symmetric, uneven.symmetric) == (True, False)
    codes = np.arange(4, dtype=np.int32)
    found = [Permutations(codes, 99, 1, None, symmetric=m).smallest_p for m in (True, False)]
    assert found == pytest.approx([2 / 24, 1 / 24])


def test_a_trend_is_a_change_only_if_it_is_free():
    rng = np.random.default_rng(4)
    times = np.repeat(np.arange(10.0), 20)
    X = documents(rng, 200, 8, 2)
    X[:, 0] += 0.3 * times
    X = X.astype(np.float32)
    free, hold = (verdict_of(X, times, 2, permutations=99, trend=t) for t in ("free", "hold"))
    assert free.pvalues[0] <= 0.02
    assert np.nanargmax(free.F) == 0
    assert hold.pvalues[0] > 0.05
