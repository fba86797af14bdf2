"""The average distortion and its gradient: brute force, differences, Torch, and threads."""

from __future__ import annotations

import numpy as np
import pytest
from graphs_for_tests import Square, dense, random_pairs, two_terms

from wordgeom.linalg.device import get_ops
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.methods.mde.problem import Problem, Term
from wordgeom.optim.constraints import Free
from wordgeom.optim.lbfgs import Lbfgs
from wordgeom.runtime.pool import Pool

N = 40


@pytest.fixture
def pool():
    with Pool(2) as opened:
        yield opened


@pytest.mark.parametrize("columns", [1, 2, 7])
def test_the_distortion_is_that_of_each_pair(pool, columns):
    rng = np.random.default_rng(1)
    terms, X = two_terms(rng), rng.standard_normal((N, columns))
    problem = Problem(N, terms, pool)
    total, size = 0.0, 0
    for term, distances, values in zip(
        terms, problem.distances(X), problem.distortions(X), strict=True
    ):
        pairs = term.pairs
        apart = np.linalg.norm(X[pairs.left] - X[pairs.right], axis=1)
        expected = term.distortion.at(apart, pairs.given, np)[0]
        np.testing.assert_allclose(distances, apart, rtol=1e-12)
        np.testing.assert_allclose(values, expected, rtol=1e-12)
        total, size = total + expected.sum(), size + len(pairs)
    assert problem.size == size
    assert problem(X)[0] == pytest.approx(total / size, rel=1e-12)


@pytest.mark.parametrize("columns", [3, 12])  # few and many are summed in different ways
def test_the_gradient_equals_finite_differences(pool, columns):
    rng = np.random.default_rng(2)
    problem, X, h = Problem(N, two_terms(rng), pool), rng.standard_normal((N, columns)), 1e-6
    gradient = problem(X)[1]
    for i, c in [(0, 0), (5, 1), (17, 2), (N - 1, 0)]:
        step = np.zeros_like(X)
        step[i, c] = h
        slope = (problem(X + step)[0] - problem(X - step)[0]) / (2.0 * h)
        assert gradient[i, c] == pytest.approx(slope, abs=1e-8)
    np.testing.assert_allclose(gradient.sum(axis=0), 0.0, atol=1e-14)


@pytest.mark.parametrize("columns", [4, 20])
def test_of_squares_the_gradient_is_a_product_with_the_laplacian(pool, columns):
    rng = np.random.default_rng(3)
    pairs, X = random_pairs(rng, N, 100), rng.standard_normal((N, columns)).astype(np.float32)
    value, gradient = Problem(N, [Term(pairs, Square())], pool)(X)
    L = dense(pairs, N)
    assert gradient.dtype == np.float32
    np.testing.assert_allclose(gradient, 2.0 * L @ X / 100, atol=1e-6)
    assert value == pytest.approx(np.sum(X * (L @ X)) / 100, rel=1e-5)


def test_items_without_a_pair_have_no_gradient(pool):
    ends = (np.array([3], np.int32), np.array([7], np.int32), np.ones(1, np.float32))
    gradient = Problem(9, [Term(Pairs(*ends), Square())], pool)(np.eye(9, dtype=np.float32))[1]
    assert sorted(np.flatnonzero(gradient.any(axis=1))) == [3, 7]


@pytest.mark.torch
def test_torch_agrees():
    torch = pytest.importorskip("torch")
    from wordgeom.methods.mde.torch_problem import TorchProblem

    rng = np.random.default_rng(4)
    terms, X = two_terms(rng), rng.standard_normal((N, 5)).astype(np.float32)
    with Pool(1) as pool:
        ours, ops = Problem(N, terms, pool), get_ops("torch-cpu", pool)
        theirs, tensor = TorchProblem(N, terms, "cpu"), torch.from_numpy(X.copy())
        value, gradient = theirs(tensor)
        assert value == pytest.approx(ours(X)[0], rel=1e-6)
        np.testing.assert_allclose(gradient.numpy(), ours(X)[1], atol=1e-7)
        for own, other in zip(ours.distortions(X), theirs.distortions(tensor), strict=True):
            np.testing.assert_allclose(other.numpy(), own, rtol=1e-5)
        values = []
        for function, where in ((ours, get_ops("cpu", pool)), (theirs, ops)):
            descent = Lbfgs(function, where, most=15, constraint=Free())
            state = descent.start(X, 5)
            assert sum(descent.iterations(state)) == 15
            values.append(state.values[-1])
        assert values[1] == pytest.approx(values[0], rel=1e-3)


@pytest.mark.parametrize("columns", [2, 60])
def test_bytes_do_not_depend_on_threads(columns):
    rng = np.random.default_rng(5)
    terms, X = two_terms(rng, 2000, 70_000), rng.standard_normal((2000, columns), np.float32)
    found = []
    for threads in (1, 2, 3):
        with Pool(threads) as pool:
            value, gradient = Problem(2000, terms, pool)(X)
            found.append((value, gradient.tobytes()))
    assert found[0] == found[1] == found[2]
