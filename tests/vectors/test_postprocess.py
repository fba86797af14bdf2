"""Common components: those of dense algebra, removed without a trace, in any order of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.vectors.postprocess import Components, Moments, all_but_the_top, moments

N, K = 700, 12


@pytest.fixture
def vectors():
    draw = np.random.default_rng(4)
    made = draw.standard_normal((N, K)) @ np.diag(np.linspace(3, 0.3, K)) + draw.standard_normal(K)
    return made.astype(np.float32)


def dense(matrix, number, centre):
    """The mean and the projector on the leading components, by an SVD of the whole matrix."""
    wide = matrix.astype(np.float64)
    mean = wide.mean(axis=0) if centre else np.zeros(matrix.shape[1])
    _, _, Vt = np.linalg.svd(wide - mean, full_matrices=False)
    return mean, Vt[:number].T @ Vt[:number]


@pytest.mark.parametrize("centre", [True, False])
@pytest.mark.parametrize("number", [0, 1, 3])
def test_components_are_those_of_a_dense_svd(vectors, number, centre):
    found = Moments.of(vectors).components(number, centre=centre)
    mean, projector = dense(vectors, number, centre)
    np.testing.assert_allclose(found.mean, mean, atol=1e-7)
    np.testing.assert_allclose(found.directions.T @ found.directions, projector, atol=1e-9)
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(number), atol=1e-12)


def test_nothing_of_the_components_is_left(vectors):
    found = Moments.of(vectors).components(2, centre=True)
    left = found.remove(vectors)
    np.testing.assert_allclose(left @ found.directions.T, 0, atol=1e-12)
    np.testing.assert_allclose(left.mean(axis=0), 0, atol=1e-12)
    again = Components(np.zeros(K), found.directions).remove(left)
    np.testing.assert_allclose(again, left, atol=1e-12)


def test_order_and_blocks_do_not_matter(vectors):
    whole = Moments.of(vectors).components(2, centre=True)
    shuffled = vectors[np.random.default_rng(1).permutation(N)]
    parts = moments((shuffled[at : at + 64] for at in range(0, N, 64)), K)
    np.testing.assert_allclose(parts.components(2, centre=True).directions, whole.directions,
                               atol=1e-9)  # fmt: skip


def test_all_but_the_top_is_principal_component_removal(vectors):
    mean, projector = dense(vectors, 3, True)
    centred = vectors - mean
    expected = centred - centred @ projector
    np.testing.assert_allclose(all_but_the_top(vectors, 3), expected, atol=1e-5)


def test_rotated_vectors_give_rotated_results(vectors):
    Q = np.linalg.qr(np.random.default_rng(2).standard_normal((K, K)))[0]
    rotated = all_but_the_top((vectors @ Q).astype(np.float32), 2)
    np.testing.assert_allclose(rotated, all_but_the_top(vectors, 2) @ Q, atol=1e-5)


def test_vectors_of_low_rank_have_fewer_components():
    line = np.outer(np.arange(1.0, 6.0), np.ones(K)).astype(np.float32)
    found = Moments.of(line).components(3, centre=False)
    assert found.directions.shape == (1, K)
    np.testing.assert_allclose(found.remove(line), 0, atol=1e-6)
