"""Eigenvalues with more vectors than a block has columns: probes find the ones that were missed."""

from __future__ import annotations

import numpy as np
import pytest
from contexts import Kept
from matrices import to_csr

from wordgeom.linalg import eigensolver, probe
from wordgeom.linalg.device import get_ops
from wordgeom.linalg.eigensolver import EigenSettings, largest_eigenpairs
from wordgeom.linalg.krylov import BLOCK, Krylov
from wordgeom.linalg.svd import truncated_svd
from wordgeom.runtime.pool import Pool

DEVICES = ["cpu", pytest.param("torch-cpu", marks=pytest.mark.torch)]


@pytest.fixture(params=DEVICES)
def ops(request):
    with Pool(2) as pool:
        yield get_ops(request.param, pool)


@pytest.fixture(autouse=True)
def lanczos(monkeypatch):
    """Send matrices of a few hundred rows through the Lanczos process, not to LAPACK."""
    monkeypatch.setattr(eigensolver, "_DENSE", 0)


def block(seed=3, size=15):
    """A symmetric matrix of non-negative numbers, some of whose eigenvalues are negative."""
    half = np.random.default_rng(seed).gamma(0.5, 2.0, (size, size))
    return half + half.T


def falling(size):
    """Eigenvalues that fall slowly to both sides of 0, as those of PMI matrices do."""
    ranks = np.arange(1.0, size // 2 + 1)
    return np.concatenate((ranks**-0.5, -(ranks**-0.3)))


def diagonal(*parts, seed=4):
    return np.diag(np.random.default_rng(seed).permutation(np.concatenate(parts)))


def assert_largest(found, G, tol):
    """Check all pairs of a diagonal matrix, and that the vectors are orthonormal."""
    d, U = G.diagonal(), found.vectors.astype(np.float64)
    true = np.sort(d)[::-1][: len(found.values)]
    eps = np.finfo(found.vectors.dtype).eps
    assert found.converged.all()
    np.testing.assert_allclose(found.values, true, rtol=tol, atol=20 * eps * true[0])
    np.testing.assert_allclose(U.T @ U, np.eye(len(true)), atol=50 * eps)
    residuals = np.linalg.norm(d[:, None] * U - U * found.values, axis=0)
    np.testing.assert_allclose(found.residuals, residuals, rtol=1e-2, atol=20 * eps * true[0])


def search(G, ops, K, tol, **values):
    wanted = EigenSettings(K, tol, restarts=30, **values)
    return largest_eigenpairs(ops.operator(to_csr(G)), wanted, ops)


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_copies_of_one_block_have_all_their_eigenvalues(ops, tol):
    few = block()
    found = search(np.kron(np.eye(120), few).astype(np.float32), ops, 100, tol)
    np.testing.assert_allclose(found.values, np.linalg.eigvalsh(few)[-1], rtol=1e-6)
    assert found.converged.all()
    assert found.probes.number > 1
    assert found.probes.found > 0


MULTIPLE = {
    "at the top": (np.repeat([10.0, 9.0, 8.0], [40, 40, 150]), 96),
    "of which K cuts the last": (np.repeat([10.0, 9.0, 8.0], [40, 40, 150]), 100),
    "of which K cuts the first": (np.full(150, 10.0), 70),
    "whose number is K": (np.full(100, 3.0), 100),
    "inside the others": (np.full(100, 0.2), 150),
    "inside the others, one more than a block": (np.full(33, 0.5), 60),
    "at several places": (np.repeat([5.0, 0.9, 0.3], [45, 60, 50]), 170),
}


@pytest.mark.parametrize("tol", [1e-2, 1e-8])
@pytest.mark.parametrize("name", MULTIPLE)
def test_multiple_eigenvalues_have_all_their_copies(name, tol):
    copies, K = MULTIPLE[name]
    G = diagonal(copies, falling(900))
    with Pool(2) as pool:
        assert_largest(search(G, get_ops("cpu", pool), K, tol), G, tol)


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
@pytest.mark.parametrize("spread", [1e-10, 1e-4, 1e-3, 1e-2])
@pytest.mark.parametrize("copies", [33, 150])
def test_nearly_equal_eigenvalues_are_all_found(copies, spread, tol):
    near = 5.0 * (1.0 - spread * np.random.default_rng(5).random(copies))
    G = diagonal(near, falling(900))
    with Pool(2) as pool:
        assert_largest(search(G, get_ops("cpu", pool), min(copies + 30, 120), tol), G, tol)


@pytest.mark.parametrize("basis", [1, 300, 10**6])
def test_any_basis_has_room_for_the_probes(ops, basis):
    G = diagonal(np.full(150, 3.0), falling(700))
    assert_largest(search(G, ops, 140, 1e-6, basis=basis), G, 1e-6)


@pytest.mark.parametrize("tol", [1e-3, 1e-8])
def test_vectors_that_the_first_block_lacks_are_found(monkeypatch, tol):
    """The worst start: orthogonal to eigenvectors, and kept so by an exact product."""
    G = np.diag(np.concatenate(([7.0, 6.0, 6.0], falling(900))))
    drawn = Krylov._draw

    def draw(space, columns):
        start = drawn(space, columns)
        if space._draws == 1:
            start[:3] = 0.0
        return start

    monkeypatch.setattr(Krylov, "_draw", draw)
    with Pool(2) as pool:
        found = search(G, get_ops("cpu", pool), 60, tol)
    assert_largest(found, G, tol)
    assert found.probes.found > 0


def test_up_to_a_block_of_pairs_needs_no_probe(ops):
    G = diagonal(np.full(80, 3.0), falling(400))
    found = search(G, ops, BLOCK, 1e-6)
    assert_largest(found, G, 1e-6)
    assert found.probes == probe.Probes(bottom=found.probes.bottom)


def test_a_probe_of_an_ordinary_matrix_takes_two_products_and_changes_nothing(ops, monkeypatch):
    G = diagonal(falling(900))
    found = search(G, ops, 80, 1e-3)
    assert_largest(found, G, 1e-3)
    assert (found.probes.number, found.probes.products, found.probes.found) == (1, 2 * BLOCK, 0)
    monkeypatch.setattr(probe.Probes, "needed", lambda self, pairs: False)
    without = search(G, ops, 80, 1e-3)
    assert without.products == found.products - found.probes.products
    np.testing.assert_allclose(found.values, without.values, rtol=1e-12)
    np.testing.assert_allclose(found.vectors, without.vectors, atol=1e-6)


@pytest.mark.parametrize("copies", [0, 60, 110])
def test_a_run_resumes_in_and_between_probes_to_the_same_bytes(copies, monkeypatch):
    monkeypatch.setattr(probe, "_PRODUCTS", 1)  # more states in probes
    G = to_csr(diagonal(np.full(copies, 0.3), falling(900)))
    wanted, found = EigenSettings(130, 1e-3, restarts=30), []
    with Pool(1) as one, Pool(3) as three:
        whole = Kept()
        for pool, checkpoint in ((one, whole), (three, None)):
            ops = get_ops("cpu", pool)
            found.append(largest_eigenpairs(ops.operator(G), wanted, ops, checkpoint=checkpoint))
        inside = [state["probes"][3] for state in whole.states]
        assert any(inside)
        for state in whole.states[-4:]:
            ops = get_ops("cpu", one)
            again = Kept(state)
            found.append(largest_eigenpairs(ops.operator(G), wanted, ops, checkpoint=again))
    for other in found[1:]:
        assert other.vectors.tobytes() == found[0].vectors.tobytes()
        assert (other.products, other.probes) == (found[0].products, found[0].probes)


def test_progress_counts_each_pair_once(ops):
    seen = []

    def follow(looks):
        for look in looks:
            seen.append(look)
            yield look

    G = diagonal(np.full(100, 3.0), falling(700))
    wanted = EigenSettings(90, 1e-6, restarts=30)
    largest_eigenpairs(ops.operator(to_csr(G)), wanted, ops, follow=follow)
    assert sum(look.gained for look in seen) == seen[-1].converged == 90


def test_the_krylov_relation_holds_with_several_chains(ops):
    G = diagonal(np.full(100, 3.0), falling(700))
    space = Krylov.start(ops.operator(to_csr(G)), ops, 400, np.float64, 1)

    def relation():
        first, m = space._parked, space.filled
        Q = ops.to_numpy(space._basis)[:, : m + BLOCK]
        T = space._T[: m + BLOCK, first:m]
        np.testing.assert_allclose(Q.T @ Q, np.eye(m + BLOCK), atol=1e-13)
        np.testing.assert_allclose(G @ Q[:, first:m], Q @ T, atol=1e-12)
        _, vectors = space.ritz_vectors(20)
        values, estimates = space.ritz_values(20)
        U = ops.to_numpy(vectors)
        residuals = np.linalg.norm(G @ U - U * values, axis=0)
        np.testing.assert_allclose(estimates, residuals, atol=1e-12)

    for _ in range(2):
        while not space.full:
            space.grow()
        relation()
        space.start_probe(120)
        for _ in range(3):
            space.grow()
            relation()
        space.restart_probe()
        relation()
        space.grow()
        space.turn(np.arange(100, 120))
        relation()
        space.grow()
        relation()
        space.restart(120)
        relation()


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("tol", [1e-2, 1e-6])
def test_singular_values_of_repeated_groups_of_documents(ops, turned, tol):
    X = np.kron(np.eye(120), np.random.default_rng(6).poisson(1.0, (7, 6)) + np.eye(7, 6))
    X = np.ascontiguousarray(X.T if turned else X)
    found = truncated_svd(to_csr(X), EigenSettings(110, tol), ops)
    largest = np.linalg.norm(X[:6, :7] if turned else X[:7, :6], 2)
    np.testing.assert_allclose(found.values, largest, rtol=tol)
    assert found.converged.all()
    assert found.probes.number > 0


@pytest.mark.parametrize("copies", [90, 150])
def test_probes_respect_effects_that_are_projected_out(ops, copies):
    X = np.kron(np.eye(copies), np.random.default_rng(6).poisson(1.0, (7, 6)) + np.eye(7, 6))
    effects = np.linalg.qr(np.linspace(-1, 1, len(X))[:, None] ** np.arange(2))[0]
    freed = X - effects @ (effects.T @ X)
    found = truncated_svd(to_csr(X), EigenSettings(120, 1e-6), ops, effects=effects)
    true = np.linalg.svd(freed, compute_uv=False)[:120]
    np.testing.assert_allclose(found.values, true, rtol=1e-6)
    assert np.abs(effects.T @ found.left).max() < 1e-13
