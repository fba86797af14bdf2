"""The largest eigenpairs of dense matrices are those of numpy.linalg.eigh."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from wordgeom.linalg.dense_eigenpairs import largest_of_dense


def symmetric(n, seed=1, rank=None):
    rng = np.random.default_rng(seed)
    made = rng.normal(size=(n, rank or n))
    return made @ made.T if rank else made + made.T


@pytest.mark.parametrize(("n", "K"), [(1, 1), (2, 1), (5, 5), (40, 3), (150, 60), (301, 300)])
def test_values_and_vectors_are_the_largest(n, K):
    G = symmetric(n)
    before = G.copy()
    values, U = largest_of_dense(G, K)
    assert (values.shape, U.shape) == ((K,), (n, K))
    np.testing.assert_allclose(values, np.linalg.eigvalsh(G)[::-1][:K], atol=1e-12 * n)
    np.testing.assert_allclose(G @ U, U * values, atol=1e-11 * n)
    np.testing.assert_allclose(U.T @ U, np.eye(K), atol=1e-12 * n)
    np.testing.assert_array_equal(G, before)


@pytest.mark.parametrize("G", [
    np.zeros((30, 30)), np.eye(30), symmetric(30, rank=4), np.kron(np.eye(6), np.ones((5, 5))),
    1e-200 * symmetric(30), 1e150 * symmetric(30),
], ids=["zero", "identity", "low rank", "equal blocks", "tiny", "huge"])  # fmt: skip
def test_equal_and_extreme_eigenvalues(G):
    values, U = largest_of_dense(G, 8)
    size = max(np.abs(values).max(), 1e-300)
    np.testing.assert_allclose(values / size, np.linalg.eigvalsh(G)[::-1][:8] / size, atol=1e-13)
    np.testing.assert_allclose(G @ U / size, U * values / size, atol=1e-13)
    np.testing.assert_allclose(U.T @ U, np.eye(8), atol=1e-12)


def test_a_view_is_read_as_the_matrix_that_it_is():
    G = symmetric(50)
    for part in (G[:20, :20], G[::2, ::2], np.asfortranarray(G)):
        np.testing.assert_array_equal(largest_of_dense(part, 3)[1],
                                      largest_of_dense(part.copy(order="C"), 3)[1])  # fmt: skip


def test_threads_return_the_same_bytes():
    matrices = [symmetric(120, seed) for seed in range(24)]
    alone = [largest_of_dense(G, 15) for G in matrices]
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda G: largest_of_dense(G, 15), matrices)
        for one, other in zip(alone, found, strict=True):
            assert all(a.tobytes() == b.tobytes() for a, b in zip(one, other, strict=True))
