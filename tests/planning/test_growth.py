"""Extrapolation: exact for what it assumes, and sober where that does not hold."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.planning.growth import bounded_power, line, power_law

SIZES = [1e5, 2e5, 4e5]
EXPONENTS = st.floats(0.01, 1.9)
FACTORS = st.floats(1.0, 500.0)


@given(EXPONENTS, FACTORS, st.floats(1.0, 1e6))
def test_a_power_law_is_continued(exponent: float, factor: float, scale: float):
    values = [scale * size**exponent for size in SIZES]
    size = factor * SIZES[-1]
    assert power_law(SIZES, values, size) == pytest.approx(scale * size**exponent, rel=1e-6)


@given(FACTORS)
def test_a_falling_exponent_falls_on_but_not_without_end(factor: float):
    values = [1e3, 1e3 * 2**0.8, 1e3 * 2**1.5]  # exponents .8 and .7
    size = factor * SIZES[-1]
    least, most = (values[-1] * factor**exponent for exponent in (0.6, 0.7))
    assert least * (1 - 1e-9) <= power_law(SIZES, values, size) <= most * (1 + 1e-9)


@given(st.lists(st.floats(1.0, 1e9), min_size=3, max_size=3).map(sorted), FACTORS)
def test_growth_never_shrinks(values: list[float], factor: float):
    size = factor * SIZES[-1]
    assert power_law(SIZES, values, size) >= values[-1] * (1 - 1e-9)
    bounded = bounded_power(SIZES, values, size, (0.5, 0.8))
    assert values[-1] * factor**0.5 * (1 - 1e-9) <= bounded
    assert bounded <= values[-1] * factor**0.8 * (1 + 1e-9)


@given(st.floats(0.0, 10.0), st.floats(0.0, 1e-4), FACTORS)
def test_a_line_is_continued_whatever_one_value_is(start: float, rise: float, factor: float):
    sizes = [1e3, *SIZES, 8e5]
    values = [start + rise * size for size in sizes]
    size = factor * sizes[-1]
    assert line(sizes, values, size) == pytest.approx(start + rise * size, abs=1e-6)
    slow = [*values[:2], values[2] + 30.0, *values[3:]]  # another program ran meanwhile
    assert line(sizes, slow, size) <= start + rise * size + 6.1 + 2e-5 * size


def test_between_the_sizes_a_power_law_passes_through_its_values():
    sizes, values = [1.0, 4.0, 8.0], [3.0, 6.0, 7.0]
    for size, value in zip(sizes, values, strict=True):
        assert power_law(sizes, values, size) == pytest.approx(value)
    assert power_law(sizes, values, 2.0) == pytest.approx(3.0 * 2**0.5)
    assert power_law(sizes, values, 0.25) == pytest.approx(1.5)
