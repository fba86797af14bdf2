"""The factor test T: closed forms, scikit-learn's likelihood, its level, and its errors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2, kstest

from wordgeom.core.errors import InputError, OptionError
from wordgeom.core.types import Csr
from wordgeom.drift.factor_analysis import FACTANAL, LOWER_BOUND, fit
from wordgeom.drift.factor_test import MAX_WORDS, degrees_of_freedom, factor_matrix, factor_test


def simulated(seed: int, n: int, p: int, r: int, noise: float = 1.0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, r)) @ rng.normal(size=(r, p)) + noise**0.5 * rng.normal(size=(n, p))


def with_covariance(sigma: np.ndarray, n: int, seed: int = 1) -> np.ndarray:
    """n rows whose covariance is exactly sigma."""
    rows = np.random.default_rng(seed).normal(size=(n, len(sigma)))
    Q, _ = np.linalg.qr(rows - rows.mean(axis=0))
    return n**0.5 * Q @ np.linalg.cholesky(sigma).T + 3.0


def one_factor(loadings: list[float]) -> tuple[np.ndarray, np.ndarray]:
    loads = np.array(loadings)
    return np.outer(loads, loads) + np.diag(1.0 - loads**2), 1.0 - loads**2


def test_an_exact_factor_covariance_is_recovered():
    sigma, psi = one_factor([0.9, 0.8, -0.7, 0.6, 0.5])
    found = factor_test(with_covariance(sigma, 50), 1)
    assert found.plain == pytest.approx(0.0, abs=1e-7)
    assert found.degrees == 5
    assert found.p == pytest.approx(1.0)
    assert found.converged
    np.testing.assert_allclose(found.uniquenesses, psi, atol=1e-5)
    np.testing.assert_allclose(found.eigenvalues, 1.0, atol=1e-5)


def test_one_factor_fits_the_stronger_of_two_pairs():
    """Then Σ differs from R by one correlation ρ, and tr − log det − p is −log(1 − ρ²)."""
    sigma = np.eye(4)
    sigma[0, 1] = sigma[1, 0] = 0.8
    sigma[2, 3] = sigma[3, 2] = 0.5
    found = factor_test(with_covariance(sigma, 100), 1)
    assert found.plain == pytest.approx(-100 * np.log(1 - 0.5**2), rel=1e-6)
    assert found.statistic == pytest.approx((100 - 1 - 13 / 6 - 2 / 3) * found.plain / 100)
    assert found.degrees == 2
    assert found.p == pytest.approx(chi2.sf(found.statistic, 2))
    assert found.plain_p == pytest.approx(chi2.sf(found.plain, 2))


def test_the_statistic_follows_from_the_eigenvalues():
    """Equation 5.17: T = n Σ (λ − log λ − 1), and r of the λ are 1."""
    found = factor_test(simulated(3, 200, 12, 3), 3)
    left = found.eigenvalues
    assert found.plain == pytest.approx(200 * np.sum(left - np.log(left) - 1))
    assert np.sum(np.abs(left - 1.0) < 1e-12) == 3


def test_the_test_equals_that_of_factanal():
    """R's factanal on ability.cov: six tests of 112 people (Smith and Stanley 1983)."""
    low = [24.641, 5.991, 6.700, 33.520, 18.137, 149.831, 6.023, 1.782, 19.424, 12.711, 20.755,
           4.936, 31.430, 4.757, 52.604, 29.701, 7.204, 50.753, 9.075, 66.762, 135.292]  # fmt: skip
    sigma = np.zeros((6, 6))
    sigma[np.tril_indices(6)] = low
    X = with_covariance(sigma + np.tril(sigma, -1).T, 112)
    one, two = factor_test(X, 1), factor_test(X, 2)
    assert [one.degrees, two.degrees] == [9, 4]
    assert [f"{one.statistic:.2f}", f"{one.p:.2e}"] == ["75.18", "1.46e-12"]
    assert [f"{two.statistic:.2f}", f"{two.p:.3f}"] == ["6.11", "0.191"]
    psi = [0.455, 0.589, 0.218, 0.769, 0.052, 0.334]
    np.testing.assert_allclose(two.uniquenesses, psi, atol=1e-3)


@pytest.mark.parametrize(
    ("n", "p", "true", "r"), [(300, 10, 2, 2), (300, 12, 3, 2), (60, 12, 3, 3)]
)
def test_the_likelihood_equals_that_of_scikit_learn(n, p, true, r):
    from sklearn.decomposition import FactorAnalysis

    X = simulated(n + r, n, p, true)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    ours = factor_test(X, r)
    model = FactorAnalysis(r, tol=1e-9, max_iter=20_000, svd_method="lapack").fit(X)
    R, sigma = np.corrcoef(X.T), model.get_covariance()
    ratio = np.linalg.solve(sigma, R)
    theirs = n * (np.trace(ratio) - np.linalg.slogdet(ratio)[1] - p)
    assert ours.plain <= theirs + 1e-6
    assert ours.plain == pytest.approx(theirs, rel=1e-4)
    np.testing.assert_allclose(ours.uniquenesses, model.noise_variance_, atol=2e-3)


def test_the_statistic_ignores_units_and_means():
    X = simulated(4, 100, 8, 2)
    units = np.array([1e-6, 1e6, -3.0, 1.0, 0.1, 7.0, 1e3, -1e-3])
    one, other = factor_test(X, 2), factor_test(X * units + units, 2)
    assert other.statistic == pytest.approx(one.statistic, rel=1e-6)
    np.testing.assert_allclose(other.uniquenesses, one.uniquenesses, atol=1e-5)


@pytest.mark.parametrize("noise", [0.01, 1.0])
def test_p_is_uniform_if_r_factors_are_true(noise):
    ps = [factor_test(simulated(seed, 200, 10, 2, noise), 2).p for seed in range(200)]
    assert kstest(ps, "uniform").pvalue > 0.01


def test_without_bartletts_factor_small_samples_reject_too_often():
    tests = [factor_test(simulated(seed, 50, 20, 5), 5) for seed in range(40)]
    assert np.mean([test.plain_p <= 0.05 for test in tests]) > 0.35
    assert np.mean([test.p <= 0.05 for test in tests]) < 0.2
    assert all("rejects too often" in " ".join(test.notes) for test in tests)


def test_too_few_factors_are_rejected_and_too_many_are_not():
    ps = {r: [factor_test(simulated(seed, 500, 15, 3), r).p for seed in range(20)] for r in (2, 5)}
    assert max(ps[2]) < 1e-6
    assert np.mean(np.array(ps[5]) <= 0.05) <= 0.05


def test_small_noise_needs_a_lower_bound_than_that_of_factanal():
    """Uniquenesses near .0025 are below factanal's bound .005, which rejects the true model."""
    tables = [simulated(seed, 400, 12, 4, 0.01) for seed in range(20)]
    tests = [factor_test(X, 4) for X in tables]
    assert np.median([np.median(test.uniquenesses) for test in tests]) < FACTANAL
    assert np.mean([test.p <= 0.05 for test in tests]) < 0.2
    held = [400 * fit(np.corrcoef(X.T), 4, FACTANAL).discrepancy for X in tables]
    assert min(held) > chi2.isf(0.05, tests[0].degrees)


def test_a_word_without_noise_is_reported():
    X = simulated(5, 200, 8, 1)
    X[:, 0] = np.random.default_rng(6).normal(size=200)
    X[:, 1] = X[:, 0] + 1e-4 * X[:, 1]
    found = factor_test(X, 2)
    assert np.min(found.uniquenesses) == pytest.approx(LOWER_BOUND)
    assert "no noise left (uniqueness 1e-05)" in found.notes[-1]


def test_the_optimum_is_a_minimum():
    found = fit(np.corrcoef(simulated(7, 300, 9, 2).T), 2)
    assert found.converged
    for word in range(9):
        for factor in (0.99, 1.01):
            psi = found.uniquenesses.copy()
            psi[word] *= factor
            R = np.corrcoef(simulated(7, 300, 9, 2).T) / np.sqrt(np.outer(psi, psi))
            left = np.linalg.eigvalsh(R)[:-2]
            assert np.sum(left - np.log(left) - 1) > found.discrepancy


def test_constant_words_are_left_out_and_counted():
    X = simulated(8, 100, 8, 2)
    held = np.insert(X, [0, 4], [[2.0, 0.0]], axis=1)
    one, other = factor_test(X, 2), factor_test(held, 2)
    assert other.statistic == pytest.approx(one.statistic)
    assert other.degrees == one.degrees
    assert other.p == pytest.approx(one.p)
    assert np.flatnonzero(np.isnan(other.uniquenesses)).tolist() == [0, 5]
    assert other.notes == ("2 words are constant and left out of the factor test",)


def test_degrees_of_freedom_are_covariances_minus_parameters():
    for p in range(1, 30):
        for r in range(p):
            parameters = p * r + p - r * (r - 1) // 2
            assert degrees_of_freedom(p, r) == p * (p + 1) // 2 - parameters
    assert [round(chi2.isf(0.05, degrees_of_freedom(20, r)), 1) for r in (2, 3)] == [180.7, 160.9]


@pytest.mark.parametrize(
    ("shape", "r", "line"),
    [
        ((8, 8), 2, "needs more documents than words, found 8 documents and 8 words; name fewer"
         " words to test"),
        ((50, 8), 5, "of 8 words allows 1 to 4 factors, found 5; change --rank or name more words"),
        ((50, 8), 8, "of 8 words allows 1 to 4 factors, found 8; change --rank or name more words"),
        ((50, 8), 0, "of 8 words allows 1 to 4 factors, found 0; change --rank or name more words"),
        ((50, 3), 1, "needs at least 4 words, found 3; name more words"),
    ],
)  # fmt: skip
def test_too_few_documents_or_words_are_rejected(shape, r, line):
    with pytest.raises((InputError, OptionError)) as caught:
        factor_test(simulated(1, shape[0], shape[1], 2), r)
    assert str(caught.value) == f"the factor test {line}"


def test_rows_that_add_up_to_one_are_rejected():
    X = np.abs(simulated(9, 60, 8, 2))
    with pytest.raises(InputError, match="independent words; leave out repeated words, or one"):
        factor_test(X / X.sum(axis=1, keepdims=True), 2)


def test_numbers_that_are_not_finite_are_rejected():
    X = simulated(10, 60, 8, 2)
    X[3, 4] = np.nan
    with pytest.raises(InputError, match="needs finite numbers; check the weights"):
        factor_test(X, 2)


def sparse(rows: int, columns: int) -> Csr:
    indptr = np.minimum(np.arange(rows + 1), 2).astype(np.int64)
    indices = np.array([1, 0], np.int32)
    return Csr(indptr, indices, np.array([2.5, -1.0], np.float32), columns)


def test_a_sparse_matrix_is_converted_exactly():
    assert factor_matrix(sparse(3, 2), 10**9).tolist() == [[0.0, 2.5], [-1.0, 0.0], [0.0, 0.0]]


def test_too_many_words_and_too_little_memory_are_rejected():
    with pytest.raises(InputError) as caught:
        factor_matrix(sparse(3, MAX_WORDS + 1), 10**9)
    assert str(caught.value) == (
        "the factor test takes at most 2,000 words, found 2,001; name the words to test"
    )
    with pytest.raises(
        InputError, match=r"the 3 × 2 numbers of the factor test need .* name the words"
    ):
        factor_matrix(sparse(3, 2), memory=95)
    assert factor_matrix(sparse(3, 2), memory=96).shape == (3, 2)
