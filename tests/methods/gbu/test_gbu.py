"""The build-up against Algorithm 1 line by line, exact and noisy Gram matrices, and its bounds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from matrices import random_counts, store_matrix, to_csr

from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.linalg.device import get_ops
from wordgeom.matrices.stored_rows import StoredRows
from wordgeom.methods.contract import Status
from wordgeom.methods.gbu import method
from wordgeom.methods.gbu.algorithm1 import build_up
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.weighting.options import PmiOptions
from wordgeom.weighting.pmi import WeightedMatrix

n = 500  # points in khalife's Tables 1 and 2


@pytest.fixture(scope="module")
def ops():
    with Pool(1) as pool:
        yield get_ops("cpu", pool)


def gram(K, seed, noise=0.0):
    """Khalife's Algorithm 3, with standard deviation η|G_ij|: (G true, G), (n × n)."""
    rng = np.random.default_rng(seed)
    points = rng.standard_normal((n, K))
    points -= points.mean(axis=0)
    true = points @ points.T
    draws = np.triu(rng.standard_normal((n, n)))
    G = true + noise * np.abs(true) * (draws + np.triu(draws, 1).T)
    np.fill_diagonal(G, np.maximum(0.0, np.diag(G)))
    return true, G


def build(G, m, K, ops, eig=0.5):
    return build_up(to_csr(np.ascontiguousarray(G[:, :m])), np.arange(m), K, eig, ops)


def score(V, G, m):
    """Eq. 12: the anchors' block once, with its diagonal, and the anchors' columns below it."""
    misfit = (V @ V[:m].T - G[:, :m]) ** 2
    return np.triu(misfit[:m]).sum() + misfit[m:].sum()


def pairs(m):
    return m * (m + 1) / 2 + m * (n - m)


def fit(matrix, options):
    with Pool(1) as pool:
        source = (
            WeightedMatrix(matrix, PmiOptions(), pool)
            if matrix.store.kind == "cooc"
            else StoredRows(matrix, pool)
        )
        run = Context(pool, partial(get_ops, "cpu", pool), 1 << 30)
        return method.fit({"matrix": source}, options, run)


def test_algorithm_1_line_by_line(ops):
    rng = np.random.default_rng(8)
    m, K = 60, 12
    S = rng.standard_normal((200, 200)) * (rng.random((200, 200)) < 0.6)
    G = S + S.T
    values, vectors = np.linalg.eigh(G[:m, :m])  # line 3
    A = vectors[:, -K:] * np.sqrt(np.maximum(values[-K:], 0))  # line 4
    Q, R = np.linalg.qr(A)  # line 5
    others = np.linalg.solve(R, Q.T @ G[:m, m:])  # lines 6–10
    V = np.vstack([A, others.T])
    found = build(G, m, K, ops).vectors
    # The two are the same up to the signs of eigenvectors, which inner products do not see.
    np.testing.assert_allclose(found @ found.T, V @ V.T, atol=1e-10)


@pytest.mark.parametrize("eig", [0.0, 0.3, 1.0])
def test_the_power_scales_every_dimension(ops, eig):
    _, G = gram(7, 9, noise=0.05)
    half, other = build(G, 40, 7, ops), build(G, 40, 7, ops, eig)
    scaled = half.vectors * half.eigenvalues ** (eig - 0.5)
    np.testing.assert_allclose(other.vectors, scaled, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("K", [3, 50, 200])
@pytest.mark.parametrize("seed", [0, 2, 9])
def test_exact_gram_matrices_are_recovered_to_rounding(ops, K, seed):
    """Table 1, η = 0, m = K + 1: in float64, all of G from the columns of K + 1 anchors.

    With K = 200 and seeds 2 and 9 the smallest eigenvalue is below 1e-6 of the largest, where
    float32 would have to give it up. It multiplies the rounding of inner products that were not
    fitted, as far as it is small, and not the score.
    """
    true, G = gram(K, seed)
    built = build(G, K + 1, K, ops)
    assert built.rank == K
    assert score(built.vectors, G, K + 1) / pairs(K + 1) < 1e-24
    error = np.abs(built.vectors @ built.vectors.T - true).max()
    assert error < 1e-14 * built.eigenvalues[0] / built.eigenvalues[-1] * np.abs(true).max()


def test_a_stored_gram_matrix_is_recovered_to_float32(tmp_path):
    true, G = gram(50, 4)
    result = fit(
        store_matrix(tmp_path / "g", G, kind="pmi"), method.Options(dim=50, as_published=True)
    )
    assert result.vectors.dtype == np.float32
    assert result.statistics["effective_rank"] == 50
    assert np.abs(result.vectors @ result.vectors.T - true).max() < 3e-6 * np.abs(true).max()


@pytest.mark.parametrize("K", [50, 200])
@pytest.mark.parametrize("noise", [0.01, 0.02])
@pytest.mark.parametrize("seed", range(2))
def test_noise_costs_rank_not_the_fit(ops, K, noise, seed):
    """Where Table 1 prints `*`: finite, an honest rank r, and never twice the best fits' score.

    Two bounds, each with the r that was found. (1) Against every V with the same anchor
    subspace, a theorem for any G: the others' vectors are exact least squares; the anchors'
    block is the best of rank r for the full sum of squares (Proposition 2), whose triangle with
    diagonal, which eq. 12 counts, is between half of it and all. (2) Against the best fit of
    rank r to the whole of G (eq. 8), which saw all n² entries. A fit of rank r to the m × n
    block alone (its singular vectors) scores lower than either, 4 to 30 times here: it follows
    the noise. No rank rule can promise twice that without giving up true dimensions (171 to 182
    of 200 would be left), which doubles the error of the inner products that were not fitted.
    """
    m = K + 1
    _, G = gram(K, seed, noise)
    built = build(G, m, K, ops)
    V, r = built.vectors, built.rank
    values, U = np.linalg.eigh(G[:m, :m])
    assert np.isfinite(V).all()
    assert 0.95 * K <= r == min(K, np.count_nonzero(values > 1e-12 * values[-1]))
    assert not V[:, r:].any()
    found = score(V, G, m)

    U, values = U[:, ::-1][:, :r], values[::-1][:r]
    block = (G[:m, :m] ** 2).sum() - (values**2).sum()
    beyond = (G[:m, m:] ** 2).sum() - ((U.T @ G[:m, m:]) ** 2).sum()
    assert found <= (block + beyond) * (1 + 1e-9)  # the least possible is block / 2 + beyond

    values, U = np.linalg.eigh(G)
    best = U[:, ::-1][:, :r] * np.sqrt(values[::-1][:r])
    assert found <= 2 * score(best, G, m)


@pytest.mark.parametrize("K", [3, 50, 200])
def test_more_anchors_average_the_noise_out(ops, K):
    """Table 2: with ⌈1.5 K⌉ anchors no dimension is lost, and the fit is as good as the truth."""
    m = -(-3 * K // 2)
    true, G = gram(K, 2, noise=0.02)
    built = build(G, m, K, ops)
    values, U = np.linalg.eigh(true)
    truth = U[:, -K:] * np.sqrt(values[-K:])
    assert built.rank == K
    assert score(built.vectors, G, m) < 2 * score(truth, G, m)


def test_anchors_are_the_most_frequent_words_wherever_they_stand(tmp_path):
    rng = np.random.default_rng(10)
    counts, frequencies, order = random_counts(rng, 80), np.arange(80, 0, -1), rng.permutation(80)
    moved = counts[np.ix_(order, order)]
    stores = [
        store_matrix(tmp_path / "a", counts, frequencies=frequencies),
        store_matrix(tmp_path / "b", moved, frequencies=frequencies[order]),
    ]
    here, there = (
        fit(matrix, method.Options(dim=5, as_published=True)).vectors for matrix in stores
    )
    np.testing.assert_allclose(there @ there.T, (here @ here.T)[np.ix_(order, order)], atol=1e-4)


def test_of_equally_frequent_words_the_first_are_anchors(tmp_path):
    counts = random_counts(np.random.default_rng(15), 80)
    alike = store_matrix(tmp_path / "a", counts, frequencies=np.full(80, 7))
    ranked = store_matrix(tmp_path / "b", counts)
    one, two = (
        fit(matrix, method.Options(dim=5, as_published=True)).vectors for matrix in (alike, ranked)
    )
    assert one.tobytes() == two.tobytes()


def test_missing_dimensions_and_isolated_words_are_zero_and_reported(tmp_path):
    rng = np.random.default_rng(11)
    points = rng.standard_normal((60, 3)).astype(np.float32)
    G = (points @ points.T).astype(np.float32)
    G[50:, :20] = 0
    G[:20, 50:] = 0
    G[7], G[:, 7] = 0, 0  # an anchor
    matrix = store_matrix(tmp_path / "g", G, kind="pmi")
    result = fit(matrix, method.Options(dim=5, anchors=20, sweeps=0))
    assert result.vectors.shape == (60, 5)
    assert result.statistics["effective_rank"] == 3
    assert result.statistics["zero_vectors"] == 11
    isolated = [7, *range(50, 60)]
    assert not result.vectors[:, 3:].any()
    assert not result.vectors[isolated].any()
    assert np.delete(result.vectors, isolated, axis=0)[:, :3].all()
    assert result.notes == [
        "the anchors span 3 of 5 dimensions (the other eigenvalues are ≤ 0 or rounding errors); "
        "2 columns are zero; raise --anchors or lower --dim",
        "11 words do not co-occur with any of the 20 anchors: zero vectors",
    ]
    assert result.status is Status.RANK_DEFICIENT


def test_an_anchor_without_entries_gets_a_zero_vector(ops, monkeypatch):
    _, G = gram(4, 5)
    G[7], G[:, 7] = 0, 0
    values, U = ops.eigh_top(G[:16, :16], 4)
    monkeypatch.setattr(ops, "eigh_top", lambda block, k: (values, U + 1e-17))
    assert not build(G, 16, 4, ops).vectors[7].any()


def test_a_small_vocabulary_is_all_anchors_and_reported(tmp_path):
    counts = random_counts(np.random.default_rng(12), 30)
    result = fit(store_matrix(tmp_path / "c", counts), method.Options(dim=10))
    assert result.statistics["anchors"] == 30
    assert result.notes[0] == "all 30 words are anchors, fewer than 100"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"dim": 31}, "--dim 31 exceeds the number of words, 30"),
        ({"dim": 9, "anchors": 8}, "--dim 9 exceeds the number of anchors, 8; raise"),
    ],
)
def test_a_dimension_beyond_the_words_is_explained(tmp_path, options, match):
    matrix = store_matrix(tmp_path / "c", random_counts(np.random.default_rng(13), 30))
    with pytest.raises(RankError, match=match):
        fit(matrix, method.Options(**options))


@pytest.mark.parametrize("G", [np.zeros((9, 9), np.float32), -np.eye(9, dtype=np.float32)])
def test_anchors_without_a_dimension_are_explained(tmp_path, G):
    with pytest.raises(RankError, match="no positive eigenvalue"):
        fit(store_matrix(tmp_path / "g", G, kind="pmi"), method.Options(dim=2))


def test_one_sided_counts_are_rejected(tmp_path):
    counts = random_counts(np.random.default_rng(14), 30, symmetric=False)
    with pytest.raises(InputError, match="needs a symmetric matrix"):
        fit(store_matrix(tmp_path / "c", counts, symmetric=False), method.Options(dim=2))


@pytest.mark.parametrize("values", [{"anchors": 7}, {"eig": 0.25}])
def test_as_published_rejects_other_settings(values):
    with pytest.raises(OptionError, match="--as-published excludes"):
        method.Options(as_published=True, **values)
    assert method.Options(as_published=True, dim=3).power == 0.5
    assert method.Options(as_published=True, dim=3, eig=0.5).power == 0.5
