"""Quantisation: errors within a step, norms, centroids, odd dimensions, zero vectors, threads."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.runtime.pool import Pool
from wordgeom.vectors.norms import row_norms, with_norms
from wordgeom.vectors.quantisation import CENTROIDS, Codes, product_codes, scalar_codes


def cloud(n, d, seed=1):
    return np.random.default_rng(seed).standard_normal((n, d)).astype(np.float32)


def units(points):
    return with_norms(points, np.ones(len(points)))


def product(points, groups, threads=2, seed=1):
    with Pool(threads) as pool:
        return product_codes(points, row_norms(points), groups, seed, pool)


def cosines(one, two):
    return np.einsum("ij,ij->i", units(one).astype(np.float64), units(two).astype(np.float64))


@pytest.mark.parametrize("columns", [1, 7, 32])
def test_eight_bits_are_within_half_a_step(columns):
    points = cloud(300, columns) * np.geomspace(1e-2, 1e3, 300, dtype=np.float32)[:, None]
    coded = scalar_codes(points, row_norms(points), 8)
    assert coded.codes.shape == (300, columns)
    stood_for = coded.codes.view(np.int8) * coded.table
    assert np.all(np.abs(stood_for - units(points)) <= 0.5001 * coded.table)
    np.testing.assert_allclose(row_norms(coded.decoded()), row_norms(points), rtol=2**-11)


@pytest.mark.parametrize("columns", [1, 7, 32])
def test_four_bits_take_half_the_bytes(columns):
    points = cloud(200, columns)
    coded = scalar_codes(points, row_norms(points), 4)
    assert coded.codes.shape == (200, (columns + 1) // 2)
    assert coded.decoded().shape == points.shape
    # The sign of every number is kept: 0 lies between two levels.
    assert np.all(np.sign(coded.decoded()) == np.sign(points))


def test_four_bits_have_the_least_error_of_a_normal_distribution():
    points = cloud(2000, 256)
    coded = scalar_codes(points, row_norms(points), 4)
    # Max (1960), table II: 16 equal steps leave an error of .01154 of the variance, and the
    # cosine with the projection on the levels is √(1 − .01154).
    assert cosines(coded.decoded(), points).mean() == pytest.approx(np.sqrt(1 - 0.01154), abs=3e-4)


def test_norms_may_differ_from_those_of_the_directions():
    points, norms = cloud(50, 6), np.geomspace(1e-3, 1e4, 50)
    for coded in (scalar_codes(points, norms, 8), scalar_codes(points, norms, 4)):
        np.testing.assert_allclose(row_norms(coded.decoded()), norms, rtol=2**-10)


@pytest.mark.parametrize("scale", [2.0**-120, 1.0, 2.0**120])
def test_extreme_norms_are_kept(scale):
    points = cloud(40, 5) * np.float32(scale)
    coded = scalar_codes(points, row_norms(points), 8)
    np.testing.assert_allclose(row_norms(coded.decoded()), row_norms(points), rtol=2**-11)


@pytest.mark.parametrize("bits", [4, 8, 0])
def test_zero_vectors_stay_zero(bits):
    points = cloud(30, 6)
    points[4] = 0
    coded = scalar_codes(points, row_norms(points), bits) if bits else product(points, 3)
    assert not coded.decoded()[4].any()
    assert coded.decoded()[5].any()
    nothing = np.zeros((3, 4), np.float32)
    assert not scalar_codes(nothing, row_norms(nothing), bits or 8).decoded().any()


@pytest.mark.parametrize(("columns", "groups"), [(8, 4), (7, 3), (5, 5), (6, 1)])
def test_a_code_names_the_nearest_centroid_of_its_group(columns, groups):
    points = cloud(600, columns)
    coded = product(points, groups)
    assert coded.codes.shape == (600, groups)
    for group in range(groups):
        part = units(points)[:, group::groups].astype(np.float64)
        centroids = coded.table[group][:, : part.shape[1]].astype(np.float64)
        squared = ((part[:, None] - centroids) ** 2).sum(axis=2)
        chosen = squared[np.arange(600), coded.codes[:, group]]
        np.testing.assert_allclose(chosen, squared.min(axis=1), atol=1e-5)


def test_vectors_no_more_than_centroids_are_exact():
    points = cloud(CENTROIDS, 6)
    np.testing.assert_allclose(product(points, 3).decoded(), points, rtol=1e-3, atol=1e-3)
    assert cosines(product(points, 3).decoded(), points).min() > 1 - 1e-6


def test_more_groups_lose_less():
    points = cloud(1500, 12)
    means = [cosines(product(points, groups).decoded(), points).mean() for groups in (2, 4, 12)]
    assert means == sorted(means)
    assert means[-1] > 0.999


def test_threads_do_not_matter():
    points = cloud(1000, 12)
    one, three = product(points, 4, threads=1), product(points, 4, threads=3)
    np.testing.assert_array_equal(one.codes, three.codes)
    np.testing.assert_array_equal(one.table, three.table)


def test_blocks_do_not_matter(monkeypatch):
    points = cloud(100, 9)
    whole = scalar_codes(points, row_norms(points), 4)
    monkeypatch.setattr("wordgeom.vectors.quantisation._ROWS", 7)
    parts = scalar_codes(points, row_norms(points), 4)
    np.testing.assert_array_equal(whole.codes, parts.codes)
    assert isinstance(parts, Codes)
    np.testing.assert_array_equal(whole.decoded(), parts.decoded())
