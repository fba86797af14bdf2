"""The eigensolver against known spectra, dense NumPy, and its own estimates."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from contexts import Kept
from matrices import to_csr

from wordgeom.core.types import Csr
from wordgeom.linalg import eigensolver
from wordgeom.linalg.device import get_ops
from wordgeom.linalg.eigensolver import EigenSettings, largest_eigenpairs
from wordgeom.linalg.krylov import BLOCK, Krylov
from wordgeom.linalg.signs import fix_signs
from wordgeom.runtime.pool import Pool

V = 400
DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]


@pytest.fixture(scope="module")
def ops():
    with Pool(2) as pool:
        yield get_ops("cpu", pool)


@pytest.fixture(autouse=True)
def lanczos(monkeypatch):
    """Send matrices of a few hundred rows through the Lanczos process, not to LAPACK."""
    monkeypatch.setattr(eigensolver, "_DENSE", 0)


class Reflected:
    """H diag(values) H with a reflection H: eigenvalues and vectors are known."""

    def __init__(self, values):
        self.values = np.asarray(values, np.float64)
        size = len(self.values)
        normal = np.random.default_rng(30).standard_normal(size)
        self.normal = normal / np.linalg.norm(normal)
        self.vectors = np.eye(size) - 2 * np.outer(self.normal, self.normal)
        self.shape = (size, size)

    def multiply(self, tall):
        values = self.values.astype(tall.dtype)[:, None]
        return self._turned(values * self._turned(tall))

    def dense(self):
        return self.vectors * self.values @ self.vectors

    def _turned(self, tall):
        normal = self.normal.astype(tall.dtype)
        return tall - 2 * np.outer(normal, normal @ tall)


def random_sparse(size, seed, entries=12):
    """A symmetric sparse matrix of normal numbers, (size × size) float64, and a heavy diagonal."""
    rng = np.random.default_rng(seed)
    half = np.zeros((size, size))
    places = rng.integers(size, size=(2, size * entries // 2))
    half[places[0], places[1]] = rng.standard_normal(places.shape[1])
    return half + half.T + np.diag(rng.gamma(0.5, 6.0, size))


def bytes_of(found):
    parts = (found.values, found.vectors, found.residuals, found.converged)
    return [np.ascontiguousarray(part).tobytes() for part in parts]


def check_pairs(found, dense, wanted, true):
    """Check values, orthonormal vectors, and that residuals and flags are what they claim."""
    K = len(true)
    assert (found.values.shape, found.vectors.shape) == ((K,), (len(dense), K))
    spectrum = np.linalg.eigvalsh(dense)
    eps, size = np.finfo(wanted.dtype).eps, np.abs(spectrum).max()
    U = found.vectors.astype(np.float64)
    np.testing.assert_allclose(U.T @ U, np.eye(K), atol=20 * eps)
    residuals = np.linalg.norm(dense @ U - U * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, residuals, rtol=1e-3, atol=20 * eps * size)
    limit = np.maximum(wanted.tol * np.abs(found.values), 10 * eps * np.abs(found.values).max())
    assert np.array_equal(found.converged, found.residuals <= limit)
    assert np.all(np.diff(found.values) <= 0)
    # Of a symmetric matrix a residual bounds the distance to an eigenvalue.
    distance = np.abs(found.values[:, None] - spectrum).min(axis=1)
    assert np.all(distance <= residuals + 20 * eps * size)
    np.testing.assert_allclose(found.values, true, atol=limit.max() + 20 * eps * size)


SPECTRA = {
    "negative ones are larger": np.concatenate(([9, 8, 7, 5, 4.5], np.linspace(1, -40, V - 5))),
    "the first is far larger": np.concatenate(([2e4, 9, 8, 7, 6], np.linspace(1, -1, V - 5))),
    "all are negative": np.linspace(-1, -3, V) ** 3,
    "one value": np.ones(V),
    "nothing": np.zeros(V),
    "rank 2": np.concatenate(([5, 3], np.zeros(V - 2))),
    "few values": np.repeat([3.0, 2.0, 0.0, -5.0], [4, 10, V - 64, 50]),
}


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
@pytest.mark.parametrize("name", SPECTRA)
def test_pairs_of_known_spectra(ops, name, tol):
    operator = Reflected(SPECTRA[name])
    wanted = EigenSettings(5, tol, basis=300, restarts=40)
    found = largest_eigenpairs(operator, wanted, ops)
    true = np.sort(operator.values)[::-1][:5]
    check_pairs(found, operator.dense(), wanted, true)
    assert found.converged.all()
    if tol < 1e-4:
        np.testing.assert_allclose(found.values, true, atol=1e-12 * np.abs(operator.values).max())


@pytest.mark.parametrize(("size", "K"), [(V, 1), (V, 3), (1100, 20)])
def test_pairs_of_sparse_matrices_equal_those_of_dense_ones(ops, monkeypatch, size, K):
    monkeypatch.setattr(eigensolver, "_DENSE", 1024 if size > 1024 else 0)
    G = random_sparse(size, 31)
    wanted = EigenSettings(K, 1e-8, basis=K + 130, restarts=60)
    found = largest_eigenpairs(ops.operator(to_csr(G)), wanted, ops)
    assert found.restarts > 0
    assert found.converged.all()
    values, vectors = np.linalg.eigh(G)
    check_pairs(found, G, wanted, values[: -K - 1 : -1])
    gap = np.diff(values).min()  # an angle is at most the residual over the gap
    angles = 1 - np.abs(np.sum(vectors[:, : -K - 1 : -1] * found.vectors, axis=0))
    assert np.all(angles < (found.residuals.max() / gap) ** 2 + 1e-14)


@pytest.mark.parametrize("size", [1, 2, 31, 33, 200])
def test_small_matrices_give_all_pairs_that_there_are(ops, size):
    G = random_sparse(size, 32)
    wanted = EigenSettings(300, 1e-3)
    found = largest_eigenpairs(ops.operator(to_csr(G)), wanted, ops)
    check_pairs(found, G, wanted, np.linalg.eigvalsh(G)[::-1])
    assert found.converged.all()
    np.testing.assert_allclose(found.vectors * found.values @ found.vectors.T, G, atol=1e-12)


@pytest.mark.parametrize("extra", [0, 1, 2, 40])
def test_dense_and_iterative_solutions_agree_at_the_limit(ops, extra):
    K = 10
    size = K + 64 + 4 * BLOCK + extra
    G = random_sparse(size, 33)
    wanted = EigenSettings(K, 1e-8, basis=extra * 100, restarts=100)
    assert wanted.dense(size) == (extra == 0)
    found = largest_eigenpairs(ops.operator(to_csr(G)), wanted, ops)
    assert found.converged.all()
    check_pairs(found, G, wanted, np.linalg.eigvalsh(G)[: -K - 1 : -1])


@pytest.mark.parametrize("basis", [0, 1, 150, 10**6])
@pytest.mark.parametrize("size", [1025, 1500, 40000])
@pytest.mark.parametrize("K", [1, 100, 800])
def test_a_basis_has_room_for_a_restart_and_never_exceeds_the_space(K, size, basis):
    wanted = EigenSettings(K, basis=basis)
    if not wanted.dense(size):
        columns = wanted.columns(size)
        assert K + 2 * BLOCK + 2 * BLOCK <= columns <= size - BLOCK
        assert columns >= min(basis, size - BLOCK)
        assert wanted.bytes(size) > size * (columns + BLOCK) * 4


@pytest.mark.parametrize(
    ("size", "K", "tol"), [(5000, 40, 1e-2), (5000, 40, 1e-5), (3000, 200, 1e-2), (300, 300, 1e-2)]
)
def test_memory_stays_below_the_estimate(ops, size, K, tol):
    operator = ops.operator(Csr(
        np.arange(size + 1), np.arange(size, dtype=np.int32), np.linspace(1, 2, size) ** 9, size
    ))  # fmt: skip
    wanted = EigenSettings(K, tol, restarts=1)
    one = ops.tall(np.ones((size, 1)), wanted.dtype)
    ops.inner(one, operator.multiply(one))  # what compiles, and what is imported, first
    tracemalloc.start()
    try:
        largest_eigenpairs(operator, wanted, ops)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert 0.4 * wanted.bytes(size) < peak < 1.05 * wanted.bytes(size)


def test_fewer_pairs_are_the_first_of_more(ops):
    operator = Reflected(np.concatenate((np.linspace(20, 10, 15), np.linspace(1, -9, V - 15))))
    found = [largest_eigenpairs(operator, EigenSettings(k, 1e-9), ops) for k in (4, 15)]
    few, many = (fix_signs(pairs.vectors[:, :4]) for pairs in found)
    np.testing.assert_allclose(few, many, atol=1e-7)
    np.testing.assert_allclose(found[0].values, found[1].values[:4], rtol=1e-12)


def test_a_multiple_of_the_identity_shifts_the_spectrum(ops):
    G = random_sparse(V, 34)
    here = largest_eigenpairs(ops.operator(to_csr(G)), EigenSettings(4, 1e-9), ops)
    moved = to_csr(G + 7 * np.eye(V))
    there = largest_eigenpairs(ops.operator(moved), EigenSettings(4, 1e-9), ops)
    np.testing.assert_allclose(there.values, here.values + 7, rtol=1e-10)
    np.testing.assert_allclose(fix_signs(there.vectors), fix_signs(here.vectors), atol=1e-6)


def test_reordering_words_reorders_the_entries_of_vectors(ops):
    G = random_sparse(V, 35)
    order = np.random.default_rng(36).permutation(V)
    here = largest_eigenpairs(ops.operator(to_csr(G)), EigenSettings(4, 1e-9), ops)
    there = largest_eigenpairs(
        ops.operator(to_csr(G[np.ix_(order, order)])), EigenSettings(4, 1e-9), ops
    )
    np.testing.assert_allclose(fix_signs(there.vectors), fix_signs(here.vectors)[order], atol=1e-6)


def test_pairs_of_a_diagonal_matrix_are_its_largest_entries(ops):
    diagonal = np.random.default_rng(37).permutation(np.linspace(-30, 4, V))
    diagonal[[3, 300]] = 8, 6
    wanted = EigenSettings(2, 1e-9, restarts=40)
    found = largest_eigenpairs(ops.operator(to_csr(np.diag(diagonal))), wanted, ops)
    np.testing.assert_allclose(found.values, [8, 6], atol=1e-12)
    np.testing.assert_allclose(np.abs(found.vectors), np.eye(V)[:, [3, 300]], atol=1e-7)


def test_copies_of_an_eigenvalue_are_all_found_up_to_a_block(ops):
    few = np.diag([5.0, 2.0, -8.0]) + 0.5
    G = np.kron(np.eye(BLOCK), few)
    G = np.pad(G, (0, 300))
    found = largest_eigenpairs(ops.operator(to_csr(G)), EigenSettings(2 * BLOCK, 1e-8), ops)
    values = np.linalg.eigvalsh(few)[:0:-1]
    np.testing.assert_allclose(found.values, np.repeat(values, BLOCK), atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("first", [1e1, 1e4, 1e5])
def test_the_krylov_relation_and_orthogonality_hold(ops, dtype, first):
    # 1e5: a product is nearly of rank 1, and its other directions must not be taken for rounding.
    operator = Reflected(np.concatenate(([first], np.linspace(1, -2, V - 1))))
    G, eps = operator.dense(), np.finfo(dtype).eps
    space = Krylov.start(operator, ops, 200, dtype, 1)

    def check():
        Q = space._basis[:, : space.filled + BLOCK].astype(np.float64)
        np.testing.assert_allclose(Q.T @ Q, np.eye(Q.shape[1]), atol=50 * eps)
        T = space._T[: Q.shape[1], : space.filled]
        assert np.linalg.norm(G @ Q[:, : space.filled] - Q @ T) < 20 * eps * first
        np.testing.assert_allclose(Q.T @ G @ Q[:, : space.filled], T, atol=20 * eps * first)

    for _ in range(3):
        while not space.full:
            space.grow()
        check()
        space.restart(70)
        check()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_estimated_residuals_are_those_of_the_vectors(ops, dtype):
    operator = Reflected(np.linspace(3, -9, V))
    space = Krylov.start(operator, ops, 300, dtype, 1)
    for _ in range(6):
        space.grow()
    values, estimates = space.ritz_values(20)
    again, vectors = space.ritz_vectors(20)
    assert np.array_equal(values, again)
    residuals = np.linalg.norm(operator.dense() @ vectors - vectors * values, axis=0)
    np.testing.assert_allclose(estimates, residuals, rtol=1e-3, atol=100 * np.finfo(dtype).eps)


def test_a_basis_that_fills_the_space_stays_orthonormal(ops):
    # Nothing is left to be found after 2 columns: all others are drawn.
    operator = Reflected(np.concatenate(([4, -6], np.zeros(126))))
    space = Krylov.start(operator, ops, 96, np.float64, 1)
    while not space.full:
        space.grow()
    Q = space._basis
    np.testing.assert_allclose(Q.T @ Q, np.eye(128), atol=1e-14)
    found = largest_eigenpairs(operator, EigenSettings(6, 1e-8), ops)
    check_pairs(found, operator.dense(), EigenSettings(6, 1e-8), [4, 0, 0, 0, 0, 0])


def test_bytes_depend_on_the_seed_and_not_on_threads():
    G = to_csr(random_sparse(V, 38).astype(np.float32))
    results = []
    for threads, seed in ((1, 1), (2, 1), (3, 1), (2, 2)):
        with Pool(threads) as pool:
            ops = get_ops("cpu", pool)
            results.append(
                largest_eigenpairs(ops.operator(G), EigenSettings(6, 1e-4, seed=seed), ops)
            )
    same = [bytes_of(found) for found in results]
    assert same[0] == same[1] == same[2] != same[3]
    np.testing.assert_allclose(results[0].values, results[3].values, rtol=1e-5)


def test_unconverged_pairs_are_reported(ops):
    wanted = EigenSettings(20, 1e-8, restarts=0)
    operator = Reflected(np.linspace(1, 0, V))
    found = largest_eigenpairs(operator, wanted, ops)
    assert not found.converged.any()
    check = np.linalg.norm(operator.dense() @ found.vectors - found.vectors * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, check, rtol=1e-6)
    # Ritz values never exceed the eigenvalues that they stand for.
    assert np.all(found.values <= operator.values[:20] + 1e-12)


def test_restarts_are_counted_and_limited(ops):
    operator = Reflected(np.linspace(1, 0, V))
    for restarts in (0, 1, 3):
        wanted = EigenSettings(5, 1e-8, basis=133, restarts=restarts)
        found = largest_eigenpairs(operator, wanted, ops)
        assert found.restarts == restarts
        assert found.products == BLOCK * (4 + 2 * restarts) + 5


def test_convergence_is_reported_until_all_pairs_converge(ops):
    seen = []

    def follow(looks):
        for look in looks:
            seen.append(look)
            yield look

    operator = Reflected(np.concatenate((np.linspace(9, 2, 12), np.linspace(1, -1, V - 12))))
    largest_eigenpairs(operator, EigenSettings(12, 1e-8), ops, follow=follow)
    assert len(seen) > 2
    assert sum(look.gained for look in seen) == seen[-1].converged == 12


LONG = {
    # Some pairs converge long before others, so that the looks are not all alike.
    "looks": (np.concatenate((np.geomspace(90, 3, 30), np.linspace(1, -1, V - 30))), 30, 360),
    "restarts": (np.concatenate((np.geomspace(90, 3, 30), np.linspace(1, -1, V - 30))), 30, 150),
}


@pytest.mark.parametrize("name", LONG)
def test_a_run_resumes_from_any_state_to_the_same_bytes(ops, name):
    values, K, basis = LONG[name]
    wanted = EigenSettings(K, 1e-5, basis)
    whole = Kept()
    found = largest_eigenpairs(Reflected(values), wanted, ops, checkpoint=whole)
    assert whole.states
    assert (found.restarts > 0) == (name == "restarts")
    for state in whole.states:
        again = Kept(state)
        other = largest_eigenpairs(Reflected(values), wanted, ops, checkpoint=again)
        assert bytes_of(other) == bytes_of(found)
        assert (other.products, other.restarts) == (found.products, found.restarts)
        for later, earlier in zip(again.states[::-1], whole.states[::-1], strict=False):
            assert all(np.array_equal(later[name], earlier[name]) for name in later)


def test_a_restored_space_draws_what_the_first_one_draws(ops):
    operator = Reflected(SPECTRA["rank 2"])
    first, second = (Krylov.start(operator, ops, 200, np.float64, 1) for _ in range(2))
    first.grow()
    second.restore({name: array.copy() for name, array in first.state().items()})
    for space in (first, second):
        space.grow()
    here, there = first.state(), second.state()
    assert all(np.array_equal(here[name], there[name]) for name in here)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("filled", [10, V])  # of 10 rows the space is exhausted: it draws
def test_every_device_finds_the_same_pairs(device, filled):
    G = np.pad(random_sparse(filled, 39), (0, V - filled))
    with Pool(1) as pool:
        ops = get_ops(device, pool)
        kept = Kept()
        wanted = EigenSettings(8, 1e-8, basis=140, restarts=60)
        found = largest_eigenpairs(ops.operator(to_csr(G)), wanted, ops, checkpoint=kept)
        check_pairs(found, G, wanted, np.linalg.eigvalsh(G)[:-9:-1])
        assert found.converged.all()
        again = largest_eigenpairs(
            ops.operator(to_csr(G)), wanted, ops, checkpoint=Kept(next(iter(kept.states), None))
        )
    np.testing.assert_allclose(again.values, found.values, rtol=1e-12, atol=1e-13)
