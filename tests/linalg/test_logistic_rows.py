"""Logistic loss of rows: its bound falls to a stationary point, on every device and any threads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.core.errors import RankError
from wordgeom.core.types import Csr
from wordgeom.linalg import row_work
from wordgeom.linalg.device import get_ops
from wordgeom.linalg.logistic_row_kernels import _curvature, _log_of_one_and
from wordgeom.linalg.logistic_rows import Expected, curvature, improve_rows, softplus
from wordgeom.runtime.pool import Pool

DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]
V, m = 12, 20
LOGARITHM = 2e-7  # relative error of log(1 + e^−t) in the kernel


def quadratic(t, x0):
    """Return q, the bound of softplus that touches it at x0 and -x0."""
    return curvature(x0) * (t * t - x0 * x0) + (t - x0) / 2.0 + softplus(x0)


class Case:
    """Counts, the fixed factor, a start and expected counts."""

    def __init__(self, seed, K=5, dtype=np.float64, filled=0.4, shift=0.0, m=m):
        rng = np.random.default_rng(seed)
        self.dense = (rng.random((V, m)) < filled) * rng.random((V, m)) * 30
        self.dense[0] = 0.0
        i, j = np.nonzero(self.dense)
        indptr = np.concatenate(([0], np.cumsum((self.dense > 0).sum(1)))).astype(np.int64)
        self.counts = Csr(indptr, j.astype(np.int32), self.dense[i, j].astype(dtype), m)
        self.other = rng.standard_normal((m, K)).astype(dtype)
        self.start = (0.1 * rng.standard_normal((V, K))).astype(dtype)
        self.expected = Expected(rng.random(V) * 9, rng.random(m), 0.1 + rng.random(V), shift)

    def along(self, x):
        """Return the inner products and the shift (V × m)."""
        return x @ self.other.T.astype(float) + self.expected.shift

    def loss(self, x):
        """Return the loss of all rows, pair by pair."""
        along, of = self.along(x.astype(float)), self.expected
        observed = np.sum(self.dense * np.logaddexp(0.0, -along))
        by_chance = np.sum(of.rows[:, None] * of.columns * quadratic(along, of.touching))
        return observed + by_chance + of.ridges @ np.sum(x.astype(float) ** 2, axis=1)

    def gradient(self, x):
        """Return the gradient of the loss (V × K)."""
        along, of = self.along(x), self.expected
        slope = 2.0 * curvature(of.touching) * along + 0.5
        pulls = of.rows[:, None] * of.columns * slope - self.dense / (1.0 + np.exp(along))
        return pulls @ self.other + 2.0 * of.ridges[:, None] * x

    def improved(self, times=1, device="cpu", threads=1, tol=1e-10, most=200):
        """Return the rows after some steps, and the losses before each."""
        losses, dtype = [], self.other.dtype
        with Pool(threads) as pool:
            ops = get_ops(device, pool)
            solver, other = ops.logistic_solver(self.counts), ops.tall(self.other, dtype)
            x = ops.tall(self.start, dtype)
            for _ in range(times):
                found = improve_rows(solver, other, x, self.expected, tol, ops, most)
                x = found.solution
                losses.append(found.loss)
            return ops.to_numpy(x), losses


@pytest.mark.parametrize("shift", [0.0, -2.3, 0.6])
@pytest.mark.parametrize("device", DEVICES)
def test_losses_are_those_of_the_pairs_and_fall(device, shift):
    case = Case(1, shift=shift)
    x, losses = case.improved(8, device)
    np.testing.assert_allclose(losses[0], case.loss(case.start), rtol=LOGARITHM)
    assert np.all(np.diff([*losses, case.loss(x)]) < 0.0)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize(
    ("dtype", "shift"), [(np.float32, 0.0), (np.float32, -1.6), (np.float64, -1.6)]
)
@pytest.mark.parametrize("m", [m, 90])  # of 90, pairs of a row fill more than a chunk of 32
def test_rows_reach_a_gradient_of_zero(device, dtype, shift, m):
    case = Case(2, dtype=dtype, shift=shift, m=m)
    x, _ = case.improved(300, device, tol=1e-10 if dtype == np.float64 else 1e-6)
    limit = 1e-6 if dtype == np.float64 else 2e-3
    assert np.abs(case.gradient(x.astype(float))).max() < limit


@given(
    st.integers(0, 10_000), st.integers(1, 9), st.sampled_from([0.05, 0.5, 1.0]),
    st.floats(-4.0, 4.0),
)  # fmt: skip
def test_no_step_raises_the_loss(seed, K, filled, shift):
    case = Case(seed, K, filled=filled, shift=shift)
    x, losses = case.improved(2)
    values = [*losses, case.loss(x)]
    assert np.all(np.diff(values) <= 1e-9 * abs(values[0]))


def test_bytes_depend_neither_on_threads_nor_on_blocks(monkeypatch):
    case = Case(3, dtype=np.float32)
    expected, _ = case.improved(3)
    monkeypatch.setattr(row_work, "SOLVED_ENTRIES", 4)
    found, _ = case.improved(3, threads=3)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_curvature_and_the_logarithm_of_a_pair_are_those_of_the_functions(dtype):
    sizes = np.concatenate((np.linspace(0.0, 1.0, 501), np.geomspace(1.0, 80.0, 300))).astype(dtype)
    for size in sizes:
        decay = np.exp(-size)
        error = abs(_log_of_one_and(decay) / np.log1p(np.exp(-float(size))) - 1.0)
        assert error < LOGARITHM + 2e-7 * (dtype == np.float32)
        assert _curvature(size, decay) == pytest.approx(curvature(float(size)), rel=1e-5)


def test_no_steps_leave_the_vectors():
    case = Case(4)
    x, losses = case.improved(1, most=0)
    np.testing.assert_allclose(x, case.start, rtol=1e-12)
    np.testing.assert_allclose(losses, case.loss(case.start), rtol=LOGARITHM)


def test_an_empty_row_follows_the_expected_counts_alone():
    case = Case(5)
    x, _ = case.improved(1)
    own = case.expected
    M = (case.other.T * own.columns) @ case.other * own.rows[0]
    A = 2.0 * curvature(1.0) * M + 2.0 * own.ridges[0] * np.eye(5)
    b = -0.5 * own.rows[0] * own.columns @ case.other
    np.testing.assert_allclose(x[0], np.linalg.solve(A, b), rtol=1e-8)


def test_no_ridge_and_no_rows_are_singular():
    case = Case(6)
    case.other[:] = 0.0
    case.expected = Expected(case.expected.rows, case.expected.columns, np.zeros(V))
    with pytest.raises(RankError, match="singular"):
        case.improved()
