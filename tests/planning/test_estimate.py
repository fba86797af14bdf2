"""Estimates: exact where costs grow as assumed, and an error where samples do not grow."""

from __future__ import annotations

import pytest

from wordgeom.core.errors import InputError
from wordgeom.planning.estimate import COUNTING, TRAINING, estimate
from wordgeom.planning.pilot import Cost

SIZES = [1e4, 2.5e5, 5e5, 1e6]


def cost(size: float) -> Cost:
    """A run whose words grow as the root, entries as the power 0.8, and time in proportion.

    Its disk has parts that grow at different rates.
    """
    memory = round(2e8 + 1e3 * (size**0.8 - SIZES[0] ** 0.8))
    entries, ngrams = round(100 * size**0.8), round(1e4 * size**0.3)
    words, disk = round(1e3 * size**0.5), 8 * entries + ngrams
    return Cost(int(size), 0, words, entries, disk, memory, 1 + size / 1e6, ngrams=ngrams)


def test_costs_are_continued():
    found = estimate([cost(size) for size in SIZES], SIZES, 3e7, TRAINING)
    expected = cost(3e7)
    for part in ("words", "entries", "disk", "ngrams", "seconds"):
        assert getattr(found, part) == pytest.approx(getattr(expected, part), rel=1e-3)
    assert found.memory == pytest.approx(expected.memory, rel=0.1)
    assert found.rows == 0


@pytest.mark.parametrize("sizes", [SIZES[2:], [1e4, 2e5, 2e5, 1e6], [0.0, 1e5, 2e5]])
def test_samples_that_are_too_small_are_an_error(sizes):
    with pytest.raises(InputError, match="too small"):
        estimate([cost(size) for size in sizes], sizes, 1e9, COUNTING)
