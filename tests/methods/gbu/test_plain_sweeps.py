"""Plain sweeps and Ritz pairs against dense formulas and eigenvectors."""

from __future__ import annotations

import numpy as np
import pytest
from matrices import to_csr
from threadpoolctl import threadpool_limits

from wordgeom.core.errors import RankError
from wordgeom.linalg.device import get_ops
from wordgeom.linalg.gram import orthonormal
from wordgeom.methods.gbu.plain_sweeps import RitzPairs, ritz, scaled, sweep
from wordgeom.runtime.pool import Pool

DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]
V = 60


@pytest.fixture(params=DEVICES)
def ops(request):
    with Pool(2) as pool:
        yield get_ops(request.param, pool)


def symmetric(values, seed=20):
    """Return a matrix with these eigenvalues, and its eigenvectors."""
    Q = np.linalg.qr(np.random.default_rng(seed).standard_normal((len(values), len(values))))[0]
    G = (Q * values) @ Q.T
    return (G + G.T) / 2, Q


def tall(ops, columns, dtype=np.float64, seed=21):
    return ops.tall(np.random.default_rng(seed).standard_normal((V, columns)), dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_sweep_is_least_squares_for_a_fixed_factor(ops, dtype):
    G, _ = symmetric(np.linspace(-5, 9, V))
    held = tall(ops, 7, dtype)
    found = ops.to_numpy(sweep(ops.operator(to_csr(G)), held, ops))
    wanted = np.linalg.lstsq(ops.to_numpy(held).astype(float), G, rcond=None)[0].T
    assert found.dtype == dtype
    np.testing.assert_allclose(found, wanted, atol=1e-10 if dtype == np.float64 else 1e-4)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dependent_columns_do_not_affect_a_sweep(ops, dtype):
    G, _ = symmetric(np.linspace(-5, 9, V))
    V3 = np.random.default_rng(22).standard_normal((V, 3))
    held = ops.tall(np.hstack([V3, V3[:, :1], np.zeros((V, 2)), V3 @ [[1.0], [2.0], [3.0]]]), dtype)
    found = ops.to_numpy(sweep(ops.operator(to_csr(G)), held, ops))
    # The least of all least squares: that of the pseudo-inverse.
    wanted = G @ np.linalg.pinv(ops.to_numpy(held).astype(float), rcond=1e-5).T
    np.testing.assert_allclose(found, wanted, atol=1e-9 if dtype == np.float64 else 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_basis_is_orthonormal_with_the_same_span(ops, dtype):
    rng = np.random.default_rng(23)
    spanning = rng.standard_normal((V, 5)) * [1.0, 10.0, 1.0, 0.1, 1.0]
    given = np.hstack([spanning, spanning @ rng.standard_normal((5, 3)), np.zeros((V, 1))])
    basis = ops.to_numpy(orthonormal(ops.tall(given, dtype), ops))
    eps = np.finfo(dtype).eps
    assert basis.shape == (V, 5)
    np.testing.assert_allclose(basis.T @ basis, np.eye(5), atol=30 * eps)
    np.testing.assert_allclose(basis @ (basis.T @ given), given, atol=1e5 * eps)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sweeps_find_the_largest_eigenvalues_though_negative_ones_are_larger(ops, dtype):
    """The power method alone would find −20 and −15; extra columns leave room for both ends."""
    K = 4
    top = np.array([10.0, 8.0, 7.0, 6.0])
    values = np.concatenate((top, np.linspace(2, -2, V - 6), [-15, -20]))
    G, Q = symmetric(values)
    operator, now = ops.operator(to_csr(G.astype(dtype))), tall(ops, K + 2, dtype)
    for _ in range(40):
        now = sweep(operator, now, ops)
    found = ritz(operator, now, K, ops)
    eps = np.finfo(dtype).eps
    np.testing.assert_allclose(found.values, top, rtol=100 * eps)
    vectors = ops.to_numpy(found.vectors).astype(float)
    np.testing.assert_allclose(vectors.T @ vectors, np.eye(K), atol=100 * eps)
    np.testing.assert_allclose(np.abs(vectors.T @ Q[:, :K]), np.eye(K), atol=1e3 * eps)


def test_bytes_do_not_depend_on_blas_threads():
    G = np.diag(np.arange(400.0))
    start = np.random.default_rng(25).standard_normal((400, 300))
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads), Pool(1) as pool:
            ops = get_ops("cpu", pool)
            operator = ops.operator(to_csr(G))
            swept = ritz(operator, sweep(operator, start, ops), 200, ops)
            found.append(swept.vectors.tobytes())
    assert found[0] == found[1]


def test_ritz_values_grow_with_the_span_and_never_beyond_the_eigenvalues(ops):
    values = np.linspace(-4, 9, V)
    G, _ = symmetric(values)
    operator = ops.operator(to_csr(G))
    largest, last = values[::-1], np.full(5, -np.inf)
    for columns in (5, 9, 30, V):  # each holds the one before
        found = ritz(operator, ops.tall(ops.to_numpy(tall(ops, V))[:, :columns], "f8"), 5, ops)
        assert (last <= found.values + 1e-10).all()
        assert (found.values <= largest[:5] + 1e-10).all()
        last = found.values
    np.testing.assert_allclose(last, largest[:5], atol=1e-10)


def test_a_span_gives_the_pairs_that_it_has(ops):
    G, _ = symmetric(np.linspace(-4, 9, V))
    two = np.repeat(np.random.default_rng(24).standard_normal((V, 2)), 3, axis=1)
    assert len(ritz(ops.operator(to_csr(G)), ops.tall(two, np.float64), 3, ops).values) == 2
    with pytest.raises(RankError, match="vectors of a sweep are all 0; lower --ridge or --dim"):
        sweep(ops.operator(to_csr(G)), ops.tall(np.zeros((V, 3)), np.float64), ops)


@pytest.mark.parametrize(("eig", "powers"), [(0.0, [1, 1]), (0.5, [3, 2]), (1.0, [9, 4])])
def test_columns_without_a_positive_ritz_value_are_zero(ops, eig, powers):
    vectors = tall(ops, 4)
    found = scaled(RitzPairs(vectors, np.array([9.0, 4.0, 0.0, -1.0])), 6, eig, ops)
    assert found.shape == (V, 6)
    np.testing.assert_allclose(found[:, :2], ops.to_numpy(vectors)[:, :2] * powers, rtol=1e-12)
    assert not found[:, 2:].any()
