"""Vectors with singular values raised to a power: the SVD, in blocks of rows and of columns."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.core.errors import RankError
from wordgeom.subwords import spectrum
from wordgeom.subwords.spectrum import with_power


@pytest.mark.parametrize("power", [0.0, 0.4, 1.0, 2.0])
@pytest.mark.parametrize("shape", [(60, 7), (4, 9), (1, 1)])
def test_singular_values_are_raised_and_nothing_else_changes(using, shape, power):
    V = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    V *= np.linspace(3, 1, shape[1], dtype=np.float32)
    made = with_power(V, power, using.ops).rows(slice(None)).astype(np.float64)
    U, S, Qt = np.linalg.svd(V.astype(np.float64), full_matrices=False)
    raised = (U * S**power) @ Qt
    expected = raised * np.linalg.norm(V) / np.linalg.norm(raised)
    np.testing.assert_allclose(made, expected, atol=1e-3 * np.abs(expected).max())


def test_rows_columns_and_norms_agree(using, monkeypatch):
    monkeypatch.setattr(spectrum, "_ROWS", 8)
    V = np.random.default_rng(2).standard_normal((30, 6)).astype(np.float32)
    V[4] = 0.0
    made = with_power(V, 0.5, using.ops)
    whole = made.rows(slice(None))
    np.testing.assert_allclose(made.columns(slice(2, 5)), whole[:, 2:5], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(made.norms(), np.linalg.norm(whole, axis=1), rtol=1e-5)
    assert not whole[4].any()


def test_directions_of_rounding_are_not_raised(using):
    draw = np.random.default_rng(3)
    V = (draw.standard_normal((50, 3)) @ draw.standard_normal((3, 8))).astype(np.float32)
    values = np.linalg.svd(with_power(V, 0.1, using.ops).rows(slice(None)), compute_uv=False)
    assert (values[3:] < 2e-3 * values[0]).all()


@pytest.mark.parametrize("number", [1e30, 1e-30])
def test_squares_beyond_float32_are_one_line(using, number):
    with pytest.raises(RankError, match="are beyond the range of float32; scale them with"):
        with_power(np.full((3, 2), number, np.float32), 0.5, using.ops)
