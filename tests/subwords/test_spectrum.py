"""Vectors whose large singular values are cut: the SVD, in blocks of rows and of columns."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.core.errors import RankError
from wordgeom.subwords import spectrum
from wordgeom.subwords.spectrum import with_clipped_spectrum


def clipped(vectors, clip, using):
    return with_clipped_spectrum(vectors, clip, using.ops).rows(slice(None)).astype(np.float64)


@pytest.mark.parametrize("clip", [5e-324, 0.3, 1.0, 1.1, 5.0])
@pytest.mark.parametrize("shape", [(60, 7), (4, 9), (1, 1)])
def test_singular_values_are_cut_and_nothing_else_changes(using, shape, clip):
    V = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    V *= np.linspace(6, 1, shape[1], dtype=np.float32)
    made = clipped(V, clip, using)
    U, S, Qt = np.linalg.svd(V.astype(np.float64), full_matrices=False)
    limit = np.sqrt(np.mean(S**2)) * np.array([max(clip, 2.0), *[clip] * (len(S) - 1)])
    cut = (U * np.minimum(S, limit)) @ Qt
    expected = cut * np.linalg.norm(V) / np.linalg.norm(cut)
    np.testing.assert_allclose(made, expected, atol=1e-3 * np.abs(expected).max())


def test_0_gives_the_vectors_and_directions_that_none_has_do_not_count(using):
    V = np.random.default_rng(2).standard_normal((50, 6)).astype(np.float32)
    np.testing.assert_array_equal(clipped(V, 0.0, using), V)
    wide = np.concatenate((V, np.zeros((50, 4), np.float32)), axis=1)
    np.testing.assert_allclose(clipped(wide, 1.0, using)[:, :6], clipped(V, 1.0, using), atol=1e-5)
    np.testing.assert_array_equal(clipped(0 * V, 1.0, using), 0 * V)


def test_rows_columns_and_norms_agree(using, monkeypatch):
    monkeypatch.setattr(spectrum, "_ROWS", 8)
    V = np.random.default_rng(2).standard_normal((30, 6)).astype(np.float32)
    V[4] = 0.0
    made = with_clipped_spectrum(V, 0.9, using.ops)
    whole = made.rows(slice(None))
    np.testing.assert_allclose(made.columns(slice(2, 5)), whole[:, 2:5], rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(made.norms(), np.linalg.norm(whole, axis=1), rtol=1e-5)
    assert not whole[4].any()


@pytest.mark.parametrize("number", [1e30, 1e-30])
def test_squares_beyond_float32_are_one_line(using, number):
    with pytest.raises(RankError, match="are beyond the range of float32; scale them with"):
        with_clipped_spectrum(np.full((3, 2), number, np.float32), 0.5, using.ops)
