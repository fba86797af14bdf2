"""Each row's weighted least squares against its dense system, and the same bytes on any threads."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from wordgeom.core.errors import RankError
from wordgeom.core.types import Array, Csr
from wordgeom.linalg import row_solver, row_work
from wordgeom.linalg.device import get_ops
from wordgeom.linalg.row_solver import Penalty, solve_rows, zero_objective
from wordgeom.runtime.pool import Pool

DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]
DTYPES = [np.float32, np.float64]
HELD = Penalty(background=0.05, ridge=1.0)
# Four rows of the other factor are read at a time, in chunks of 32.
LENGTHS = (0, 1, 2, 3, 4, 5, 7, 8, 31, 32, 33, 40, 64, 90)
m = 90


@dataclass(frozen=True)
class Problem:
    """A pattern with targets and weights, the factor that is held, and where rows begin."""

    targets: Csr
    weights: Array
    other: Array
    start: Array

    def row(self, i):
        """Return the targets, the weights and the rows of `other` of a row, in float64."""
        part = slice(self.targets.indptr[i], self.targets.indptr[i + 1])
        U = self.other[self.targets.indices[part]].astype(float)
        return self.targets.data[part].astype(float), self.weights[part].astype(float), U

    def system(self, i, held):
        """Return A (K × K) and b (K) of a row: its minimum solves A x = b."""
        g, c, U = self.row(i)
        wide = self.other.astype(float)
        A = (U.T * c) @ U + held.background * wide.T @ wide + held.ridge * np.eye(U.shape[1])
        return A, (U.T * c) @ g

    def objective(self, i, x, held):
        """Return what a row's vector costs, term by term."""
        g, c, U = self.row(i)
        x = x.astype(float)
        everywhere = ((self.other.astype(float) @ x) ** 2).sum()
        return (c * (g - U @ x) ** 2).sum() + held.background * everywhere + held.ridge * x @ x

    def objectives(self, x, held):
        """Return (V) what each row's vector costs."""
        return np.array([self.objective(i, x[i], held) for i in range(self.targets.rows)])


def problem(seed, lengths=LENGTHS, K=6, dtype=np.float64):
    rng = np.random.default_rng(seed)
    columns = [np.sort(rng.permutation(m)[:n]) for n in lengths]
    indptr = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    indices = np.concatenate([np.empty(0), *columns]).astype(np.int32)
    data = rng.standard_normal(len(indices)).astype(dtype) * 3
    weights = rng.random(len(indices)).astype(dtype) ** 3
    weights[indices == 7] = 0.0
    other, start = (rng.standard_normal((n, K)).astype(dtype) for n in (m, len(lengths)))
    return Problem(Csr(indptr, indices, data, m), weights, other, 0.1 * start)


def solve(given, held=HELD, tol=1e-6, device="cpu", threads=1):
    with Pool(threads) as pool:
        ops = get_ops(device, pool)
        dtype = given.other.dtype
        solver = ops.row_solver(given.targets, given.weights)
        other, start = ops.tall(given.other, dtype), ops.tall(given.start, dtype)
        found = solve_rows(solver, other, start, held, tol, ops)
        return found, ops.to_numpy(found.solution)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("K", [1, 6, 33])
def test_a_row_solves_its_dense_system(device, dtype, K):
    given = problem(1, K=K, dtype=dtype)
    found, x = solve(given, tol=1e-9 if dtype == np.float64 else 1e-6, device=device)
    assert (x.dtype, x.shape) == (dtype, (len(LENGTHS), K))
    for i in range(len(LENGTHS)):
        wanted = np.linalg.solve(*given.system(i, HELD))
        np.testing.assert_allclose(x[i], wanted, atol=1e-7 if dtype == np.float64 else 2e-5)
    assert not x[0].any()
    assert found.missed == 0


@given(
    seed=st.integers(0, 1000),
    lengths=st.lists(st.sampled_from([0, 1, 3, 4, 5, 30]), min_size=1, max_size=6),
    K=st.integers(1, 9),
    background=st.sampled_from([0.0, 0.01, 1.0]),
    ridge=st.sampled_from([0.1, 1.0, 30.0]),
)
def test_any_row_solves_its_dense_system(seed, lengths, K, background, ridge):
    made, held = problem(seed, lengths, K), Penalty(background, ridge)
    _, x = solve(made, held, tol=1e-10)
    for i in range(len(lengths)):
        np.testing.assert_allclose(x[i], np.linalg.solve(*made.system(i, held)), atol=1e-7)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", range(3))
def test_the_gradient_is_zero_at_a_solution(device, dtype, seed):
    given = problem(seed, K=20, dtype=dtype)
    _, x = solve(given, device=device)
    for i in range(1, len(LENGTHS)):
        A, b = given.system(i, HELD)
        assert np.linalg.norm(A @ x[i] - b) < 1e-5 * np.linalg.norm(b)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("tol", [1e-6, 1e-2, 0.5, 100.0])
def test_gains_are_how_far_the_objective_fell(device, tol):
    """Of what is returned, be it the minimum or not: 100 leaves rows at their start."""
    given = problem(4)
    found, x = solve(given, tol=tol, device=device)
    nothing = given.objectives(np.zeros_like(x), HELD)
    np.testing.assert_allclose(nothing - found.gains, given.objectives(x, HELD), rtol=1e-9)
    assert zero_objective(given.targets, given.weights) == pytest.approx(nothing.sum(), rel=1e-12)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_looser_tolerance_costs_more_and_never_more_than_the_start(dtype):
    given = problem(5, K=30, dtype=dtype)
    last = given.objectives(given.start, HELD)
    last = np.minimum(last, given.objectives(np.zeros_like(given.start), HELD))
    steps = []
    for tol in (10.0, 0.5, 1e-1, 1e-2, 1e-3):
        found, x = solve(given, tol=tol)
        now = given.objectives(x, HELD)
        assert (now <= last * (1 + 1e-6)).all()
        steps.append(found.steps)
        last = now
    assert steps == sorted(set(steps))


@pytest.mark.parametrize("device", DEVICES)
def test_a_start_at_the_minimum_stays_there(device):
    given = problem(6)
    _, x = solve(given, tol=1e-10, device=device)
    again = Problem(given.targets, given.weights, given.other, x)
    found, y = solve(again, tol=1e-6, device=device)
    assert found.steps == 0
    np.testing.assert_allclose(x, y, atol=1e-12)


@pytest.mark.parametrize("device", DEVICES)
def test_a_distant_start_leaves_no_rounding(device):
    given = problem(12, K=20, dtype=np.float32)
    far = Problem(given.targets, given.weights, given.other, given.start * np.float32(1e6))
    x, y = (solve(made, device=device)[1] for made in (given, far))
    np.testing.assert_allclose(x, y, atol=1e-5)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_whose_targets_are_all_zero_are_zero(device, dtype):
    """Words whose every pair was clipped, from any start: there is no right side to be near to."""
    given = problem(7, K=20, dtype=dtype)
    given.targets.data[:] = 0.0
    found, x = solve(given, device=device)
    assert not x.any()
    assert not found.gains.any()
    assert found.missed == 0


@pytest.mark.parametrize("device", DEVICES)
def test_rows_that_miss_the_tolerance_are_counted(device, monkeypatch):
    monkeypatch.setattr(row_solver, "MAX_STEPS", 2)
    found, x = solve(problem(8, (0, 30, 60, 90), K=30), tol=1e-12, device=device)
    assert (found.missed, found.steps) == (3, 6)
    assert np.isfinite(x).all()


@pytest.mark.parametrize("dtype", DTYPES)
def test_any_number_of_threads_gives_the_same_bytes(dtype, monkeypatch):
    lengths = np.random.default_rng(9).integers(0, m, 300)
    given = problem(9, lengths, K=24, dtype=dtype)
    one, x = solve(given, tol=1e-4)
    for threads, entries in ((2, 1 << 18), (1, 1000), (2, 1000), (3, 1000), (3, 7)):
        monkeypatch.setattr(row_work, "SOLVED_ENTRIES", entries)
        other, y = solve(given, tol=1e-4, threads=threads)
        assert x.tobytes() == y.tobytes()
        assert one.gains.tobytes() == other.gains.tobytes()
        assert one.steps == other.steps


def test_the_threads_of_the_blas_change_no_byte():
    given = problem(13, (3, 40), K=300)  # where a factorisation takes more than one
    with threadpool_limits(1):
        _, x = solve(given, Penalty(1.0, 1.0))
    with threadpool_limits(2):
        _, y = solve(given, Penalty(1.0, 1.0))
    assert x.tobytes() == y.tobytes()


@pytest.mark.parametrize("held", [Penalty(0.0, 0.0), Penalty(1.0, 0.0)])
def test_a_direction_without_weight_is_explained(held):
    given = problem(10)
    given.other[:, 2] = 0.0
    with pytest.raises(RankError) as caught:
        solve(given, held)
    assert str(caught.value) == ("a least-squares system is singular; raise --ridge or lower --dim")


@pytest.mark.torch
def test_torch_solves_rows_block_by_block(monkeypatch):
    from wordgeom.linalg import torch_rows

    lengths = np.random.default_rng(11).integers(0, m, 20)
    given = problem(11, lengths, K=16)
    here, x = solve(given)
    for gathered in (1 << 27, 300 * 16, 1):
        monkeypatch.setattr(torch_rows, "GATHERED", gathered)
        there, y = solve(given, device="torch-cpu")
        np.testing.assert_allclose(y, x, atol=1e-5)
        np.testing.assert_allclose(there.gains, here.gains, atol=1e-6)
        assert there.missed == here.missed == 0
