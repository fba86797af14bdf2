"""Projections: nearest points, tangents, and what a descent under them keeps."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.core.errors import RankError
from wordgeom.linalg.device import get_ops
from wordgeom.optim.constraints import Anchored, Centered, Constraint, Free, Standardized
from wordgeom.optim.lbfgs import Lbfgs
from wordgeom.runtime.pool import Pool

N, M = 50, 4
DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]


@pytest.fixture(params=DEVICES)
def ops(request):
    with Pool(2) as pool:
        yield get_ops(request.param, pool)


def drawn(seed, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal((N, M)).astype(dtype) + 0.3


def test_centring_subtracts_the_means(ops):
    Z = drawn(1)
    X = ops.to_numpy(Centered(N, ops).onto(ops.tall(Z, Z.dtype)))
    np.testing.assert_allclose(X, Z - Z.mean(axis=0), atol=1e-6)


def test_standardising_gives_the_nearest_standardised_array(ops):
    Z = drawn(2)
    X = ops.to_numpy(Standardized(N, ops).onto(ops.tall(Z, Z.dtype)))
    U, _, Vt = np.linalg.svd((Z - Z.mean(axis=0)).astype(np.float64), full_matrices=False)
    np.testing.assert_allclose(X, np.sqrt(N) * U @ Vt, atol=1e-5)
    np.testing.assert_allclose(X.T @ X / N, np.eye(M), atol=1e-5)
    np.testing.assert_allclose(X.sum(axis=0) / N, 0.0, atol=1e-5)


def test_columns_of_different_size_are_standardised_to_float32(ops):
    Z = (drawn(3) * np.array([1e-3, 1.0, 30.0, 1e3])).astype(np.float32)
    X = ops.to_numpy(Standardized(N, ops).onto(ops.tall(Z, Z.dtype)))
    np.testing.assert_allclose(X.T @ X / N, np.eye(M), atol=1e-5)


def test_an_array_of_a_lower_rank_cannot_be_standardised(ops):
    Z = drawn(4, np.float64)
    Z[:, 3] = Z[:, 0]
    with pytest.raises(RankError, match="3 of 4 dimensions"):
        Standardized(N, ops).onto(ops.tall(Z, Z.dtype))


def test_tangents_keep_the_constraint_to_first_order(ops):
    standardized, h = Standardized(N, ops), 1e-6
    X = standardized.onto(ops.tall(drawn(5), np.float64))
    V = ops.to_numpy(standardized.tangent(X, ops.tall(drawn(6), np.float64)))
    X = ops.to_numpy(X)
    np.testing.assert_allclose(X.T @ V + V.T @ X, 0.0, atol=1e-10)
    np.testing.assert_allclose(V.sum(axis=0), 0.0, atol=1e-10)
    moved = X + h * V
    np.testing.assert_allclose(moved.T @ moved / N, np.eye(M), atol=1e-9)


def test_steps_along_projected_gradients_keep_a_flat_constraint(ops):
    centered = Centered(N, ops)
    X = centered.onto(ops.tall(drawn(5), np.float64))
    V = centered.tangent(X, ops.tall(drawn(6), np.float64))
    moved = ops.along(X, -2.5, V)
    assert centered.flat
    np.testing.assert_allclose(ops.to_numpy(moved).sum(axis=0), 0.0, atol=1e-12)


def test_anchored_rows_keep_their_bytes(ops):
    Z, rows = drawn(7), np.array([3, 17, 49])
    values = np.array([[-0.0, 1e-40, 1.0, np.pi]] * 3, np.float32)
    anchored = Anchored(rows, values, ops)
    X = ops.to_numpy(anchored.onto(ops.tall(Z, Z.dtype)))
    assert X[rows].tobytes() == values.tobytes()
    tangent = ops.to_numpy(anchored.tangent(X, ops.tall(Z, Z.dtype)))
    assert not tangent[rows].any()
    np.testing.assert_array_equal(np.delete(tangent, rows, 0), np.delete(Z, rows, 0))


@pytest.mark.parametrize("name", ["free", "centered", "anchored", "standardized"])
def test_a_descent_decreases_and_ends_within_the_constraint(ops, name):
    rows, values = np.array([0, 9]), drawn(8)[:2]
    values[0, 0] = -0.0  # not the bytes of 0
    constraints: dict[str, Constraint] = {
        "free": Free(),
        "centered": Centered(N, ops),
        "anchored": Anchored(rows, values, ops),
        "standardized": Standardized(N, ops),
    }
    constraint = constraints[name]
    A = np.random.default_rng(9).standard_normal((N, N))
    A = A @ A.T / N + 0.3 * np.eye(N)
    matrix = ops.tall(A, np.float32)

    def function(X):
        image = matrix @ X
        return 0.5 * float((X * image).sum()), image

    descent = Lbfgs(function, ops, most=200, enough=1e-4, constraint=constraint)
    state = descent.start(drawn(10), 8)
    for _ in descent.iterations(state):
        pass
    X = ops.to_numpy(state.x)
    assert (np.diff(state.values) <= 0.0).all()
    assert len(state.lengths) == len(state.norms) - 1 == len(state.values) - 1
    assert state.norms[-1] < 0.02 * state.norms[0]
    if name == "anchored":
        assert X[rows].tobytes() == values.tobytes()
    if name in ("centered", "standardized"):
        np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=1e-5)
    if name == "standardized":
        np.testing.assert_allclose(X.T @ X / N, np.eye(M), atol=1e-5)
        flat = np.ones((N, 1)) / np.sqrt(N)
        inner = np.linalg.qr(np.hstack([flat, np.eye(N)[:, 1:]]))[0][:, 1:]
        least = np.linalg.eigvalsh(inner.T @ A @ inner)[:M].sum() * N / 2.0
        assert state.values[-1] == pytest.approx(least, rel=1e-3)
