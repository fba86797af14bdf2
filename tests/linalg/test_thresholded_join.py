"""The join of vectors by a threshold, and thresholds of shares, against all pairs."""

from __future__ import annotations

import numpy as np
import pytest

from wordgeom.linalg.thresholded_join import (
    BINS,
    PANEL,
    count_cosines,
    pair_counts,
    thresholded_join,
)
from wordgeom.runtime.pool import Pool

n = PANEL + 150


@pytest.fixture(scope="module")
def units():
    points = np.random.default_rng(1).standard_normal((n, 8)) + 0.3
    points[7] = points[n - 3]  # duplicates in different panels
    return (points / np.linalg.norm(points, axis=1, keepdims=True)).astype(np.float32)


def whole(panels):
    """The matrix of panels, from the upper triangle."""
    full, start = np.zeros((n, n)), 0
    for panel in panels:
        full[panel.entry_rows + start, panel.indices] = panel.data
        start += panel.rows
    return np.maximum(full, full.T)


@pytest.mark.parametrize("threshold", [0.2, 0.8])
def test_the_join_has_the_pairs_above_the_threshold_with_their_cosines(units, threshold):
    with Pool(2) as pool:
        panels = thresholded_join(units, threshold, pool)
    found, cosines = whole(panels), units.astype(float) @ units.T
    np.fill_diagonal(cosines, 1.0)
    clear = np.abs(cosines - threshold) > 1e-5
    assert np.array_equal((found > 0.0)[clear], (cosines > threshold)[clear])
    assert np.abs(found - cosines)[found > 0.0].max() < 1e-6
    assert np.array_equal(pair_counts(panels, n), (found > 0.0).sum(axis=1))


def test_the_first_block_of_a_panel_is_whole_and_the_rest_is_above_the_diagonal(units):
    with Pool(1) as pool:
        panels = thresholded_join(units, 0.5, pool)
    assert [panel.rows for panel in panels] == [PANEL, n - PANEL]
    assert panels[1].indices.min() == PANEL
    first = panels[0].indices[panels[0].indptr[:-1]]
    assert (first <= np.arange(PANEL)).all()
    for panel in panels:
        inside = np.diff(panel.indices) > 0
        inside[panel.indptr[1:-1] - 1] = True
        assert inside.all()


def test_the_join_is_the_same_at_any_number_of_threads(units):
    made = []
    for threads in (1, 3):
        with Pool(threads) as pool:
            panels = thresholded_join(units, 0.4, pool)
            made.append([(p.indptr.tobytes(), p.indices.tobytes(), p.data.tobytes())
                         for p in panels])  # fmt: skip
    assert made[0] == made[1]


@pytest.mark.parametrize("share", [0.5, 0.9, 0.99])
def test_the_quantile_is_that_of_all_pairs_to_one_bin(units, share):
    with Pool(2) as pool:
        counted = count_cosines(units, pool)
    pairs = (units.astype(float) @ units.T)[np.triu_indices(n, 1)]
    exact = np.sort(pairs)[int(np.ceil(share * len(pairs))) - 1]
    assert 0.0 <= counted.quantile(share) - exact < 2.0 / BINS + 1e-6
    assert np.mean(pairs <= counted.quantile(share)) >= share
    assert counted.counts.sum() == len(pairs)


def test_the_pairs_above_a_threshold_are_counted_to_one_bin(units):
    with Pool(1) as pool:
        counted = count_cosines(units, pool)
    pairs = (units.astype(float) @ units.T)[np.triu_indices(n, 1)]
    above, nearly = (int((pairs > limit).sum()) for limit in (0.5, 0.5 - 2.0 / BINS - 1e-6))
    assert above <= counted.above(0.5) <= nearly
