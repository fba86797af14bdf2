"""Every primitive against dense NumPy, NumPy against Torch, and bytes at any number of threads."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matrices import to_csr

from wordgeom.device import get_ops
from wordgeom.errors import OptionError, UnavailableError
from wordgeom.linalg import numpy_ops
from wordgeom.linalg.ops import fix_signs
from wordgeom.pool import Pool

DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]


@pytest.fixture(params=DEVICES)
def ops(request):
    with Pool(2) as pool:
        yield get_ops(request.param, pool)


def sparse(rng, V, m, dtype):
    return (rng.standard_normal((V, m)) * (rng.random((V, m)) < 0.2)).astype(dtype)


def spread(rng, m):
    """A symmetric matrix whose eigenvalues, of both signs, lie 1 apart."""
    Q = np.linalg.qr(rng.standard_normal((m, m)))[0]
    values = np.arange(m) - m / 2 + 0.25
    return (Q * values) @ Q.T, Q[:, ::-1], values[::-1]


@pytest.mark.parametrize("k", [1, 7, 30])
def test_eigenpairs_are_the_largest_algebraically(ops, k):
    S, Q, values = spread(np.random.default_rng(4), 30)
    found, U = ops.eigh_top(S, k)
    assert (found.dtype, U.dtype, U.shape) == (np.float64, np.float64, (30, k))
    np.testing.assert_allclose(found, values[:k], atol=1e-12)
    # With eigenvalues 1 apart, perturbations of 1e-14 turn a vector by as little.
    np.testing.assert_allclose(U, fix_signs(Q[:, :k]), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(200, 30, 9), (1, 5, 1), (50, 4, 0), (0, 4, 3)])
def test_products_equal_dense_ones(ops, dtype, shape):
    V, m, K = shape
    rng = np.random.default_rng(5)
    left, right = sparse(rng, V, m, dtype), rng.standard_normal((m, K))
    found = ops.spmm(to_csr(left), right)
    assert (found.dtype, found.shape) == (dtype, (V, K))
    np.testing.assert_allclose(found, left @ right, atol=100 * np.finfo(dtype).eps)


def test_products_of_nothing_are_zero(ops):
    assert not ops.spmm(to_csr(np.zeros((6, 3), np.float32)), np.ones((3, 2))).any()


@pytest.mark.torch
def test_torch_spans_the_same_space():
    S, _, _ = spread(np.random.default_rng(6), 40)
    with Pool(1) as pool:
        values, U = get_ops("cpu", pool).eigh_top(S, 5)
        others, W = get_ops("torch-cpu", pool).eigh_top(S, 5)
    np.testing.assert_allclose(values, others, atol=1e-12)
    cosines = np.linalg.svd(U.T @ W, compute_uv=False)  # of the principal angles
    np.testing.assert_allclose(cosines, 1.0, atol=1e-12)


def test_bytes_do_not_depend_on_threads(monkeypatch):
    rng = np.random.default_rng(7)
    left, right = to_csr(sparse(rng, 500, 40, np.float32)), rng.standard_normal((40, 10))
    S, _, _ = spread(rng, 90)
    results = []
    for threads, block in ((1, 1 << 28), (1, 1 << 9), (2, 1 << 9), (3, 1 << 9)):
        monkeypatch.setattr(numpy_ops, "_BLOCK", block)
        with Pool(threads) as pool:
            ops = get_ops("cpu", pool)
            parts = (*ops.eigh_top(S, 20), ops.spmm(left, right))
        results.append([part.tobytes() for part in parts])
    assert all(result == results[0] for result in results)


def test_the_largest_entry_of_every_vector_is_made_positive():
    vectors = np.array([[0.1, -2.0, 0.0], [-3.0, 1.0, 0.0]])
    assert np.array_equal(fix_signs(vectors), [[-0.1, 2.0, 0.0], [3.0, -1.0, 0.0]])


def test_a_missing_torch_is_explained_in_a_line(monkeypatch):
    monkeypatch.delitem(sys.modules, "wordgeom.linalg.torch_ops", raising=False)
    monkeypatch.setitem(sys.modules, "torch", None)
    with Pool(1) as pool, pytest.raises(UnavailableError, match=r"pip install torch") as caught:
        get_ops("cuda", pool)
    assert "\n" not in str(caught.value)


def test_a_missing_gpu_is_explained_in_a_line(torch, monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with Pool(1) as pool, pytest.raises(UnavailableError, match="needs a GPU"):
        get_ops("cuda", pool)


def test_an_unknown_device_is_refused():
    with Pool(1) as pool, pytest.raises(OptionError, match="cpu or cuda"):
        get_ops("tpu", pool)
