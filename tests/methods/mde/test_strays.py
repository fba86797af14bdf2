"""Strays of a map: they go back to their similar items, and nothing else moves."""

from __future__ import annotations

import numpy as np

from wordgeom.methods.mde.graphs.strays import without_strays
from wordgeom.methods.mde.pairs import Pairs


def pairs(*ends):
    left, right = np.array(sorted(ends), np.int32).T
    return Pairs(left, right, np.ones(len(left), np.float32))


def test_a_stray_is_put_at_the_mean_of_its_similar_items_and_no_other_moves():
    points = np.random.default_rng(1).standard_normal((300, 2)).astype(np.float32)
    points[7] = 90.0, -40.0
    points[8] = 80.0, 10.0
    similar = pairs((3, 7), (7, 20), (7, 8), (8, 9), (1, 2))
    moved = without_strays(points, similar)
    np.testing.assert_allclose(moved[7], points[[3, 20]].mean(0), rtol=1e-6)
    np.testing.assert_allclose(moved[8], points[9], rtol=1e-6)
    others = np.delete(np.arange(300), [7, 8])
    assert np.array_equal(moved[others], points[others])


def test_a_component_of_its_own_stays_where_it_is():
    points = np.random.default_rng(2).standard_normal((300, 2)).astype(np.float32)
    points[:2] += 100.0
    assert np.array_equal(without_strays(points, pairs((0, 1), (5, 6))), points)
