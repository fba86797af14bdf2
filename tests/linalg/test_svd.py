"""Singular triplets against dense NumPy, and the transpose against SciPy."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from matrices import to_csr, to_dense

from wordgeom.core.types import Csr
from wordgeom.linalg import eigensolver
from wordgeom.linalg.device import get_ops
from wordgeom.linalg.eigensolver import EigenSettings
from wordgeom.linalg.signs import fix_signs
from wordgeom.linalg.svd import transpose, truncated_svd
from wordgeom.runtime.pool import Pool

DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]


@pytest.fixture(params=DEVICES)
def ops(request):
    with Pool(2) as pool:
        yield get_ops(request.param, pool)


def sparse(n, m, seed=50):
    """Normal numbers in a fifth of the places, columns ever rarer, as words are."""
    rng = np.random.default_rng(seed)
    scale = 1.0 / np.sqrt(1.0 + np.arange(m))
    return rng.standard_normal((n, m)) * (rng.random((n, m)) < 0.2) * scale


def check_triplets(found, X, true):
    k = len(true)
    assert (found.left.shape, found.right.shape) == ((len(X), k), (X.shape[1], k))
    np.testing.assert_allclose(found.values, true, rtol=1e-9, atol=1e-7 * true.max(initial=0))
    there = found.values > 0
    for side in (found.left[:, there], found.right[:, there]):
        np.testing.assert_allclose(side.T @ side, np.eye(there.sum()), atol=1e-6)
    misfit = np.linalg.norm(X.T @ found.left - found.right * found.values, axis=0)
    other = np.linalg.norm(X @ found.right - found.left * found.values, axis=0)
    # One side is computed from the other, exactly; the residual is that of the other relation.
    residuals = np.maximum(misfit, other)[there]
    np.testing.assert_allclose(found.residuals[there], residuals, rtol=1e-3, atol=1e-7)
    assert np.array_equal(fix_signs(found.right), found.right)


@pytest.mark.parametrize(("n", "m"), [(60, 25), (25, 60), (40, 40), (1, 9), (9, 1)])
@pytest.mark.parametrize("k", [1, 7, 60])
def test_triplets_equal_those_of_the_dense_matrix(ops, n, m, k):
    X = sparse(n, m)
    found = truncated_svd(to_csr(X), EigenSettings(k, 1e-8), ops)
    check_triplets(found, X, np.linalg.svd(X, compute_uv=False)[:k])
    assert found.converged.all()
    if k >= min(n, m):
        np.testing.assert_allclose(found.left * found.values @ found.right.T, X, atol=1e-8)


@pytest.mark.parametrize(("n", "m"), [(700, 300), (300, 700)])
def test_triplets_of_a_large_matrix(ops, monkeypatch, n, m):
    monkeypatch.setattr(eigensolver, "_DENSE", 0)
    X = sparse(n, m)
    left, true, _ = np.linalg.svd(X, full_matrices=False)
    exact = truncated_svd(to_csr(X), EigenSettings(6, 1e-8, restarts=60), ops)
    check_triplets(exact, X, true[:6])
    assert exact.converged.all()
    rough = truncated_svd(to_csr(X), EigenSettings(6, 1e-3), ops)
    assert np.all(rough.residuals <= 1e-3 * rough.values)
    np.testing.assert_allclose(rough.values, true[:6], rtol=1e-4)
    cosines = np.linalg.svd(left[:, :6].T @ exact.left, compute_uv=False)
    np.testing.assert_allclose(cosines, 1.0, atol=1e-9)


def test_values_beyond_the_rank_are_zero(ops):
    rng = np.random.default_rng(51)
    X = rng.standard_normal((50, 3)) @ rng.standard_normal((3, 30))
    for wide in (X, X.T):
        found = truncated_svd(to_csr(np.ascontiguousarray(wide)), EigenSettings(8, 1e-8), ops)
        check_triplets(found, wide, np.append(np.linalg.svd(X, compute_uv=False)[:3], np.zeros(5)))
        assert not found.values[3:].any()
        assert not (found.left[:, 3:].any() and found.right[:, 3:].any())
        assert np.isfinite(found.left).all()
        assert np.isfinite(found.right).all()


def test_small_values_of_a_small_matrix_are_found_at_any_tolerance(ops):
    rng = np.random.default_rng(53)
    left, right = (np.linalg.qr(rng.standard_normal((n, 6)))[0] for n in (40, 30))
    values = np.geomspace(1, 1e-5, 6)
    found = truncated_svd(to_csr(left * values @ right.T), EigenSettings(6), ops)
    np.testing.assert_allclose(found.values, values, rtol=1e-4)
    np.testing.assert_allclose(np.abs(found.left), np.abs(left), atol=1e-4)


def test_a_matrix_of_zeros_has_no_singular_values(ops):
    found = truncated_svd(to_csr(np.zeros((5, 4))), EigenSettings(3, 1e-8), ops)
    assert not found.values.any()
    assert not found.residuals.any()


def test_signs_follow_the_right_side_and_the_sides_change_places(ops):
    X = sparse(40, 15)
    here = truncated_svd(to_csr(X), EigenSettings(4, 1e-8), ops)
    there = truncated_svd(to_csr(np.ascontiguousarray(X.T)), EigenSettings(4, 1e-8), ops)
    np.testing.assert_allclose(there.values, here.values, rtol=1e-12)
    np.testing.assert_allclose(fix_signs(here.left), there.right, atol=1e-9)
    np.testing.assert_allclose(
        here.left * here.values @ here.right.T,
        (there.left * there.values @ there.right.T).T,
        atol=1e-9,
    )


def some_effects(n, columns=2):
    """The mean, and a line along the rows: orthonormal columns."""
    powers = np.linspace(-1, 1, n)[:, None] ** np.arange(columns)
    return np.linalg.qr(powers)[0]


def freed(X, G):
    return X - G @ (G.T @ X)


@pytest.mark.parametrize(("n", "m"), [(60, 25), (25, 60), (40, 40)])
@pytest.mark.parametrize("k", [7, 60])
def test_effects_are_projected_out_of_the_dense_matrix(ops, n, m, k):
    X, G = sparse(n, m) + 3.0, some_effects(n)
    found = truncated_svd(to_csr(X), EigenSettings(k, 1e-8), ops, effects=G)
    true = np.linalg.svd(freed(X, G), compute_uv=False)[:k]
    check_triplets(found, freed(X, G), true)
    assert np.abs(G.T @ found.left).max() < 1e-14
    if k >= min(n, m):
        again = found.left * found.values @ found.right.T
        np.testing.assert_allclose(again, freed(X, G), atol=1e-6)


@pytest.mark.parametrize(("n", "m"), [(700, 300), (300, 700)])
@pytest.mark.parametrize(("tol", "close", "rounding"), [(1e-8, 1e-9, 1e-14), (1e-3, 1e-4, 1e-6)])
def test_effects_are_projected_out_of_a_large_matrix(ops, monkeypatch, n, m, tol, close, rounding):
    monkeypatch.setattr(eigensolver, "_DENSE", 0)
    X, G = sparse(n, m) + 1.0 + np.linspace(-1, 1, n)[:, None], some_effects(n)
    data = X.astype(np.float32) if tol > 1e-4 else X
    found = truncated_svd(to_csr(data), EigenSettings(6, tol, restarts=60), ops, effects=G)
    true = np.linalg.svd(freed(X, G), compute_uv=False)[:6]
    np.testing.assert_allclose(found.values, true, rtol=close)
    assert np.all(found.residuals <= tol * found.values)
    assert np.abs(G.T @ found.left).max() < rounding
    np.testing.assert_allclose(found.left.T @ found.left, np.eye(6), atol=100 * rounding)
    assert np.array_equal(fix_signs(found.right), found.right)


def test_no_effects_change_nothing_and_all_effects_leave_nothing(ops):
    X, G = sparse(30, 20), some_effects(30, 3)
    plain, free = (
        truncated_svd(to_csr(X), EigenSettings(5), ops, effects=e)
        for e in (None, np.empty((30, 0)))
    )
    np.testing.assert_allclose(free.values, plain.values, rtol=1e-12)
    np.testing.assert_allclose(free.right, plain.right, atol=1e-9)
    explained = G @ np.random.default_rng(54).standard_normal((3, 20))
    assert not truncated_svd(to_csr(explained), EigenSettings(5), ops, effects=G).values.any()


@pytest.mark.parametrize("shape", [(30, 50), (50, 30), (1, 7), (7, 1), (3, 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.int64])
def test_the_transpose_equals_scipys(shape, dtype):
    X = scipy.sparse.random_array(shape, density=0.3, rng=np.random.default_rng(52), format="csr")
    X = (X * 9).astype(dtype)
    given = Csr(X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, shape[1])
    turned = transpose(given)
    assert (turned.rows, turned.columns) == (shape[1], shape[0])
    assert turned.indptr.dtype == np.int64
    assert turned.indices.dtype == np.int32
    assert turned.data.dtype == dtype
    assert np.array_equal(to_dense(turned), X.T.toarray())
