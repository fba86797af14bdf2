"""Points: distances have the order of the metric, at any scale of the features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from corpora import assert_one_line
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist
from scipy.stats import zscore

from wordgeom.core.errors import InputError
from wordgeom.imputation.domain import Domain, DomainOptions
from wordgeom.imputation.points import points

SIZES = [1e-320, 1e-200, 1e-20, 1.0, 1e20, 1e200, 1e305]


def of(matrix: Any, **options: Any) -> tuple[np.ndarray, list[str]]:
    matrix = np.array(matrix, dtype=float)
    before = matrix.copy()
    made = points(Domain([f"e{k}" for k in range(len(matrix))], matrix), DomainOptions(**options))
    np.testing.assert_array_equal(matrix, before)
    return made


def some(rows: int = 30, columns: int = 7) -> np.ndarray:
    return np.random.default_rng(4).standard_normal((rows, columns)) + 0.5


def unit_distances(matrix: np.ndarray) -> np.ndarray:
    return cdist(matrix, matrix) ** 2 / 2


def test_euclidean_is_the_matrix_itself():
    domain = Domain(["a", "b"], np.array([[1.0, 2], [3, 4]]))
    made, notes = points(domain, DomainOptions())
    assert made is domain.matrix
    assert not notes


@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_half_the_squared_distance_is_the_metric(metric):
    made, notes = of(some(), metric=metric)
    expected = cdist(some(), some(), metric)
    np.testing.assert_allclose(unit_distances(made), expected, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-15)
    assert not notes
    assert made.flags.c_contiguous


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("metric", ["cosine", "correlation"])
def test_directions_do_not_depend_on_scale(metric, size):
    rows = np.array([[3.0, 4, 0], [-1, 2, 5], [1, 1, 2]])
    made, _ = of(rows * size, metric=metric)
    # The smallest numbers have few bits.
    atol = 1e-3 if size < 1e-300 else 1e-14
    np.testing.assert_allclose(made, of(rows, metric=metric)[0], atol=atol, rtol=0)


def test_correlation_survives_a_large_mean():
    made, _ = of(some() + 1e9, metric="correlation")
    np.testing.assert_allclose(made.sum(axis=1), 0, atol=1e-14)
    np.testing.assert_allclose(made, of(some(), metric="correlation")[0], atol=1e-5)


def test_standardised_columns_have_mean_0_and_variance_1():
    matrix = some() * 10.0 ** np.arange(-3, 4) + 10.0 ** np.arange(7)
    made, notes = of(matrix, standardise=True)
    np.testing.assert_allclose(made, zscore(matrix), atol=1e-9)
    np.testing.assert_allclose(made.mean(axis=0), 0, atol=1e-15)
    np.testing.assert_allclose(made.var(axis=0), 1, atol=1e-14)
    assert not notes


@pytest.mark.parametrize("size", SIZES)
def test_standardised_columns_do_not_depend_on_scale(size):
    rows = np.array([[3.0, 4, 0], [-1, 2, 5], [1, 1, 2]])
    made, _ = of(rows * size, standardise=True)
    np.testing.assert_allclose(made, zscore(rows), atol=1e-3 if size < 1e-300 else 1e-12)


def test_constant_columns_become_0_and_are_counted():
    made, notes = of([[1, 0.1, 7], [2, 0.1, 7], [6, 0.1, 7]], standardise=True)
    assert not made[:, 1:].any()
    np.testing.assert_allclose(made[:, 0], zscore([1, 2, 6]))
    assert notes == ["constant columns, set to 0 by --standardise: 2"]


@pytest.mark.parametrize(
    ("metric", "rows", "parts"),
    [
        ("cosine", [[1, 2], [0, 0], [-0.0, 0]], ["'e1'", "and 1 more", "all are 0"]),
        ("correlation", [[1, 2], [0.1, 0.1], [0, 0]], ["'e1'", "and 1 more", "all are equal"]),
        ("correlation", [[1], [2]], ["'e0'", "and 1 more"]),
    ],
)
def test_entities_without_a_direction_are_rejected(metric, rows, parts):
    with pytest.raises(InputError) as caught:
        of(rows, metric=metric)
    assert_one_line(caught, "no direction", *parts, "--metric euclidean")


@pytest.mark.parametrize("size", [1e-320, 1e-200, 1e200, 1.7e308])
def test_extreme_scales_are_corrected_by_a_power_of_two(size):
    rows = np.array([[1.0, 0], [0.5, -1], [0, 0.25]])
    made, notes = of(rows * size)
    power = int(notes[0].partition("2^")[2].split()[0])
    np.testing.assert_array_equal(made, np.ldexp(rows * size, power))
    assert np.isfinite(cdist(made, made, "sqeuclidean")).all()
    assert cdist(made, made, "sqeuclidean")[0, 1] > 0


@given(
    arrays(np.float64, (3, 3), elements=st.floats(allow_nan=False, allow_infinity=False)),
    st.sampled_from(["euclidean", "cosine", "correlation"]),
    st.booleans(),
)
def test_points_are_always_finite(matrix, metric, standardise):
    try:
        made, _ = of(matrix, metric=metric, standardise=standardise)
    except InputError:
        return
    assert np.isfinite(made).all()
    assert np.isfinite(np.einsum("ij,ij->i", made, made)).all()
    if metric != "euclidean":
        np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1, atol=1e-12)
