"""Two factors brought to equal lengths: their product stays, how it was split is forgotten."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.core.errors import RankError
from wordgeom.linalg.device import get_ops
from wordgeom.methods.gbu.balanced_factors import mix_factors
from wordgeom.runtime.pool import Pool

V, K = 60, 7
RNG = np.random.default_rng(50)


@pytest.fixture(params=["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)])
def ops(request):
    with Pool(2) as pool:
        yield get_ops(request.param, pool)


def word_vectors(v, u, mix, ops, dtype=np.float64):
    found, sigma = mix_factors(ops.tall(v, dtype), ops.tall(u, dtype), mix, 0.5, ops)
    return ops.to_numpy(found), sigma


def sides(v, u, ops, dtype=np.float64):
    """Return A Σ^½ and B Σ^½ (V × K), and Σ."""
    own, sigma = word_vectors(v, u, 0.0, ops, dtype)
    return own, word_vectors(v, u, 1.0, ops, dtype)[0] - own, sigma


@pytest.mark.parametrize(("dtype", "tol"), [(np.float64, 1e-9), (np.float32, 2e-4)])
def test_balanced_factors_keep_the_product_and_share_its_singular_values(ops, dtype, tol):
    v, u = RNG.standard_normal((V, K)) * np.arange(1, K + 1), RNG.standard_normal((V, K))
    left, right, sigma = sides(v, u, ops, dtype)
    size = np.linalg.norm(v @ u.T, 2)
    np.testing.assert_allclose(left @ right.T, v @ u.T, atol=tol * size)
    np.testing.assert_allclose(sigma, np.linalg.svd(v @ u.T)[1][:K], atol=tol * size)
    for side in (left, right):
        np.testing.assert_allclose(side.T @ side, np.diag(sigma), atol=tol * size)


def test_balanced_factors_have_minimal_norm(ops):
    v, u = RNG.standard_normal((V, K)), RNG.standard_normal((V, K))
    left, right, sigma = sides(v, u, ops)
    least = (left**2).sum() + (right**2).sum()
    assert least == pytest.approx(2 * sigma.sum())
    for _ in range(10):
        M = np.eye(K) + 0.1 * RNG.standard_normal((K, K))
        assert ((left @ M) ** 2).sum() + ((right @ np.linalg.inv(M).T) ** 2).sum() > least


@pytest.mark.parametrize("mix", [0.0, 0.2, 1.0])
def test_the_result_depends_on_the_product_alone(ops, mix):
    v, u = RNG.standard_normal((V, K)), RNG.standard_normal((V, K))
    M = np.eye(K) + 0.2 * RNG.standard_normal((K, K))
    here, _ = word_vectors(v, u, mix, ops)
    there, _ = word_vectors(v @ M, u @ np.linalg.inv(M).T, mix, ops)
    np.testing.assert_allclose(here @ here.T, there @ there.T, atol=1e-8)


@pytest.mark.parametrize("mix", [0.0, 0.2, 1.0])
def test_mix_scales_negative_directions_of_a_symmetric_product(ops, mix):
    """X = Q diag(λ) Qᵀ: |λ|^½ Q, times 1 + mix where λ > 0 and 1 − mix where it is below."""
    Q = np.linalg.qr(RNG.standard_normal((V, K)))[0]
    values = np.array([9.0, -7.0, 5.0, 4.0, -3.0, 2.0, -1.0])
    found, sigma = word_vectors(Q, Q * values, mix, ops)
    np.testing.assert_allclose(sigma, np.abs(values), atol=1e-9)
    wanted = Q * np.sqrt(np.abs(values)) * np.where(values > 0, 1 + mix, 1 - mix)
    np.testing.assert_allclose(np.abs(found), np.abs(wanted), atol=1e-9)


def test_columns_beyond_the_rank_are_zero(ops):
    v, u = RNG.standard_normal((V, K)), RNG.standard_normal((V, K))
    v[:, 3], u[:, 5] = v[:, 2], u[:, 4] * 2  # rank 6 each, 5 of their product
    found, sigma = word_vectors(v, u, 0.3, ops)
    assert found.shape == (V, K)
    assert len(sigma) == K - 2
    assert (found[:, K - 2 :] == 0).all()
    assert (np.abs(found[:, : K - 2]).max(axis=0) > 0.1).all()


def test_zero_vectors_are_rejected(ops):
    with pytest.raises(RankError, match="all 0"):
        word_vectors(np.zeros((V, K)), RNG.standard_normal((V, K)), 0.2, ops)
