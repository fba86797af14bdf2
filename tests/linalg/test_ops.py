"""Every primitive against dense NumPy, NumPy against Torch, and bytes at any number of threads."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from matrices import to_csr

from wordgeom.core import row_blocks
from wordgeom.core.errors import OptionError, UnavailableError
from wordgeom.linalg import numpy_ops
from wordgeom.linalg.device import get_ops
from wordgeom.linalg.signs import fix_signs
from wordgeom.runtime.pool import Pool

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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_wide_matrices_are_multiplied_tile_by_tile(ops, dtype):
    # Rows with entries in every tile, at its edges, and with long and short runs of entries.
    rng = np.random.default_rng(8)
    left = np.zeros((5, 90_000))
    left[0] = rng.random(90_000) < 0.2
    left[1, [0, 4095, 4096, 8191, 8192, 16383, 16384, 24575, 24576, 89_999]] = np.arange(1, 11)
    left[2, 50_000:50_017] = 1.0
    left[4, 4090:4105] = 2.0
    right = rng.integers(-9, 9, (90_000, 3)).astype(dtype)  # sums are exact
    found = ops.to_numpy(ops.operator(to_csr(left.astype(dtype))).multiply(ops.tall(right, dtype)))
    assert np.array_equal(found, left @ right)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_operator_gives_the_type_of_the_tall_array(ops, dtype):
    rng = np.random.default_rng(9)
    for kind in (np.float32, np.float64):
        left = sparse(rng, 60, 40, kind)
        operator = ops.operator(to_csr(left))
        right = rng.standard_normal((40, 6)).astype(dtype)
        tall = ops.tall(right, dtype)
        found = ops.to_numpy(operator.multiply(tall[:, 2:5]))  # a view, columns of a basis
        assert operator.shape == (60, 40)
        assert (found.dtype, found.flags.c_contiguous) == (dtype, True)
        eps = max(np.finfo(dtype).eps, np.finfo(kind).eps)
        np.testing.assert_allclose(found, left @ right[:, 2:5], atol=100 * eps)
        assert np.array_equal(ops.to_numpy(tall), right)


def test_a_tall_array_is_a_copy_of_the_type_asked_for(ops):
    array = np.asfortranarray(np.random.default_rng(10).standard_normal((30, 4)))
    for dtype in (np.float32, np.float64):
        tall = ops.tall(array, dtype)
        found = ops.to_numpy(tall)
        assert (found.dtype, found.flags.c_contiguous) == (dtype, True)
        assert np.array_equal(found, array.astype(dtype))
        tall[:] = 0
        assert array.all()
        back = ops.to_numpy(ops.tall(array, dtype)[:, 1:3])
        assert back.flags.c_contiguous
        assert np.array_equal(back, array[:, 1:3].astype(dtype))


def test_empty_is_room_that_slices_write_into(ops):
    room = ops.empty(20, 6, np.float32)
    room[:, :2] = ops.tall(np.ones((20, 2)), np.float32)
    room[:, np.array([3, 5])] = ops.tall(np.full((20, 2), 7.0), np.float32)
    found = ops.to_numpy(room)
    assert (found.dtype, found.shape) == (np.float32, (20, 6))
    assert np.array_equal(found[:, [0, 1, 3, 5]], np.repeat([[1, 1, 7, 7]], 20, axis=0))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(20_000, 5, 3), (8192, 1, 4), (7, 0, 2), (1, 2, 1)])
def test_tall_arrays_are_combined_as_dense_ones(ops, dtype, shape):
    rows, k, others = shape
    rng = np.random.default_rng(11)
    basis, block = (rng.standard_normal((rows, n)).astype(dtype) for n in (k, others))
    weights = rng.standard_normal((k, others))
    left, right = ops.tall(basis, dtype), ops.tall(block, dtype)
    atol = 100 * np.finfo(dtype).eps * np.sqrt(rows)
    inner = ops.inner(left, right)
    assert (inner.dtype, inner.shape) == (np.float64, (k, others))
    np.testing.assert_allclose(inner, basis.T.astype(np.float64) @ block, atol=atol)
    made = ops.to_numpy(ops.combine(left, weights))
    assert made.dtype == dtype
    np.testing.assert_allclose(made, basis @ weights, atol=atol)
    assert ops.subtract(right, left, weights) is None
    np.testing.assert_allclose(ops.to_numpy(right), block - basis @ weights, atol=atol)
    assert np.array_equal(ops.to_numpy(left), basis)


def test_columns_of_a_basis_are_changed_in_their_place(ops):
    rng = np.random.default_rng(12)
    basis, weights = rng.standard_normal((50, 9)), rng.standard_normal((4, 3))
    tall = ops.tall(basis, np.float64)
    ops.subtract(tall[:, 5:8], tall[:, :4], weights)
    basis[:, 5:8] -= basis[:, :4] @ weights
    np.testing.assert_allclose(ops.to_numpy(tall), basis, atol=1e-14)
    np.testing.assert_allclose(ops.inner(tall[:, 1:3], tall[:, 4:]), basis[:, 1:3].T @ basis[:, 4:])


@pytest.mark.parametrize("length", [1, 1000, 70_000])
def test_long_rows_are_combined_as_dense_ones(ops, length):
    rng = np.random.default_rng(8)
    rows, other = rng.standard_normal((3, length)), rng.standard_normal((2, length))
    left, right = ops.tall(rows, np.float64), ops.tall(other, np.float64)
    np.testing.assert_allclose(ops.row_products(left, [*right]), rows @ other.T, atol=1e-10)
    weights = np.array([0.5, -2.0, 3.0])
    np.testing.assert_allclose(ops.to_numpy(ops.row_sum(weights, left)), weights @ rows, atol=1e-12)
    np.testing.assert_allclose(
        ops.to_numpy(ops.along(left[:2], -1.5, right)), rows[:2] - 1.5 * other, atol=1e-12
    )
    ops.along(left[0], 2.0, right[1], out=left[2])
    np.testing.assert_allclose(ops.to_numpy(left)[2], rows[0] + 2.0 * other[1], atol=1e-12)


def test_long_sums_of_single_numbers_keep_their_digits():
    # Blocks are added in float64: 1 + 2⁻²⁴ would vanish in a sum of float32.
    ones = np.ones((3 * 8192, 1), np.float32)
    ones[8192:] = 2.0**-12
    with Pool(1) as pool:
        inner = get_ops("cpu", pool).inner(ones, ones)
    assert inner == 8192 + 2 * 8192 * 2.0**-24


@pytest.mark.torch
@pytest.mark.parametrize("resident", [0, 900, None])
def test_blocks_that_do_not_stay_on_the_device_are_copied(torch, monkeypatch, resident):
    from wordgeom.linalg.torch_ops import TorchOps

    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", 50)
    rng = np.random.default_rng(13)
    left, right = sparse(rng, 90, 40, np.float32), rng.standard_normal((40, 3))
    left[30:40] = 0
    ops = TorchOps("cpu", resident)
    operator = ops.operator(to_csr(left))
    assert len(operator._blocks) > 5
    for _ in range(2):
        found = ops.to_numpy(operator.multiply(ops.tall(right, np.float64)))
        np.testing.assert_allclose(found, left @ right, atol=1e-12)


@pytest.mark.torch
def test_as_many_blocks_as_fit_stay_on_the_device(torch, monkeypatch):
    from wordgeom.linalg.torch_ops import TorchOperator

    monkeypatch.setattr(row_blocks, "BLOCK_ENTRIES", 50)
    matrix = to_csr(sparse(np.random.default_rng(14), 90, 40, np.float32))
    # "meta" is a device without memory, which tells where a block was put.
    whole = TorchOperator(matrix, "meta", 1 << 40)._blocks
    assert all(part.is_meta for *_, parts in whole for part in parts)
    sizes = [sum(part.nbytes for part in parts) for *_, parts in whole]
    for room in (0, sizes[0] - 1, sizes[0], sum(sizes[:3]), sum(sizes) - 1, sum(sizes)):
        there = [parts[0].is_meta for *_, parts in TorchOperator(matrix, "meta", room)._blocks]
        fitting = int(np.count_nonzero(np.cumsum(sizes) <= room))
        assert there == [True] * fitting + [False] * (len(sizes) - fitting)


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
    basis, weights = rng.standard_normal((30_000, 40)).astype(np.float32), rng.random((40, 8))
    results = []
    for threads, block in ((1, 1 << 20), (1, 1 << 9), (2, 1 << 9), (3, 1 << 9)):
        monkeypatch.setattr(numpy_ops, "_BLOCK_ENTRIES", block)
        with Pool(threads) as pool:
            ops = get_ops("cpu", pool)
            combined = ops.combine(basis, weights)
            parts = [*ops.eigh_top(S, 20), ops.spmm(left, right), ops.inner(basis, basis), combined]
            ops.subtract(combined, basis, weights[:, ::-1])
            parts.append(combined)
            rows = basis.reshape(4, -1)
            parts += [ops.row_products(rows, [*rows[:2]]), ops.row_sum(weights[:4, 0], rows),
                      ops.along(rows, 0.3, rows[::-1].copy())]  # fmt: skip
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


def test_an_unknown_device_is_rejected():
    with Pool(1) as pool, pytest.raises(OptionError, match="cpu or cuda"):
        get_ops("tpu", pool)
