"""Distortion functions against finite differences, their limits, and the claims of chapter 4."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

from wordgeom.methods.mde import distortions
from wordgeom.methods.mde.distortions import parameters
from wordgeom.methods.mde.distortions.distortion import FAR, NEAR, power

ATTRACTIVE: dict[str, Any] = dict(distortions.ATTRACTIVE)
REPULSIVE: dict[str, Any] = dict(distortions.REPULSIVE)
DEVIATIONS: dict[str, Any] = dict(distortions.DEVIATIONS)
WEIGHTED = [*ATTRACTIVE.values(), *REPULSIVE.values()]
EVERY = [*WEIGHTED, *DEVIATIONS.values()]
OTHERS = {"exponent": (0.3, 1.0, 1.5, 2.7, 4.0), "threshold": (0.1, 2.0), "sharpness": (0.5, 30.0)}
VARIANTS = [
    *(cls() for cls in EVERY),
    *(cls(**{name: value}) for cls in EVERY for name in parameters(cls) for value in OTHERS[name]),
]
GIVEN = np.array([1e-3, 0.5, 1.0, 2.0, 37.0])
D = np.array([1e-4, 0.01, 0.3, 0.5, 0.77, 1.0, 1.9, 2.0, 5.0, 36.0, 400.0])


def identity(function) -> str:
    return repr(function)


def kinks(function, d, given):
    """Where a function has no derivative."""
    if type(function) in DEVIATIONS.values():
        return np.abs(d - given) < 1e-5 * np.maximum(1.0, d)
    return np.zeros(d.shape, bool)


@pytest.mark.parametrize("function", VARIANTS, ids=identity)
def test_slopes_equal_finite_differences(function):
    d, given = (grid.ravel() for grid in np.meshgrid(D, GIVEN))
    step = 1e-6 * d
    _, slope = function.at(d, given, np)
    above, below = (function.at(d + sign * step, given, np)[0] for sign in (1, -1))
    wanted = (above - below) / (2.0 * step) / d
    scale = np.maximum(np.abs(slope), (np.abs(above) + 1e-6) / d**2)
    smooth = ~kinks(function, d, given)
    assert (np.abs(slope - wanted)[smooth] < 1e-4 * scale[smooth]).all()


@pytest.mark.parametrize("function", VARIANTS, ids=identity)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_distance_gives_a_warning_nan_or_infinity(function, dtype):
    d = np.array([0.0, 1e-45, 1e-38, 1e-20, 1e-7, 1e-6, 1.0, 50.0, 1e4, 1e12, 1e20, 3e38])
    given = np.array([0.0, 1e-38, 1e-6, 1.0, 1e3, 1e9], dtype)
    if type(function) in WEIGHTED:
        given = np.array([1e-6, 1.0, 2.0, 1e3], dtype)
    grid = [axis.ravel().astype(dtype) for axis in np.meshgrid(d, given)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f, slope = function.at(*grid, np)
    assert f.dtype == slope.dtype == dtype
    barrier = function.barrier & (grid[0] == 0.0) & (grid[1] > 0.0)
    assert np.isfinite(f[~barrier]).all()
    assert (f[barrier] == np.inf).all()
    assert np.isfinite(slope).all()
    assert (slope[grid[0] == 0.0] == 0.0).all()


@pytest.mark.parametrize("cls", WEIGHTED)
def test_distortions_are_proportional_to_weights(cls):
    once, twice = (cls().at(D, np.full(len(D), w), np) for w in (1.0, 2.0))
    assert all(np.allclose(2.0 * one, two) for one, two in zip(once, twice, strict=True))


@pytest.mark.parametrize("cls", ATTRACTIVE.values())
def test_attractive_functions_increase_from_the_smallest_value(cls):
    d = np.concatenate(([0.0], D))
    f, slope = cls().at(d, np.ones(len(d)), np)
    assert (np.diff(f) > 0).all()
    assert (slope[1:] > 0).all()
    assert f[0] == (np.log(2.0) if cls.name == "logistic" else 0.0)


@pytest.mark.parametrize("cls", REPULSIVE.values())
def test_repulsive_functions_fall_from_a_barrier_to_zero(cls):
    d = np.array([0.0, 1e-5, 1e-3, 0.1, 1.0, 10.0, 1e6, FAR])
    f, slope = cls().at(d, np.ones(len(d)), np)
    assert (np.diff(f[:-1]) < 0).all()
    assert (slope[1:] <= 0).all()
    assert f[0] == np.inf
    assert f[1] > 11.0
    assert 0.0 <= f[-1] < 1e-8


@pytest.mark.parametrize("cls", DEVIATIONS.values())
def test_losses_are_zero_at_the_deviation_and_rise_on_both_sides(cls):
    for deviation in GIVEN:
        d = deviation * np.array([0.2, 0.7, 0.99, 1.0, 1.01, 1.5, 8.0])
        f, slope = cls().at(d, np.full(len(d), deviation), np)
        assert abs(f[3]) < 1e-12
        assert slope[3] == 0.0
        assert (np.diff(f[:4]) < 0).all()
        assert (np.diff(f[3:]) > 0).all()
        assert (np.sign(slope) == np.sign(d - deviation)).all()


@pytest.mark.parametrize("cls", [cls for cls in DEVIATIONS.values() if cls.divides])
def test_a_deviation_of_zero_counts_for_nothing_where_it_would_divide(cls):
    f, slope = cls().at(D, np.zeros(len(D)), np)
    assert not f.any()
    assert not slope.any()


def test_functions_have_the_values_of_the_book():
    e, one = np.exp, np.array([1.0])
    d = np.array([0.8])
    wanted = {
        ("power", 3.0): 0.8**3, ("log1p", 1.5): np.log1p(0.8**1.5),
        ("huber", 0.5): 0.5 * (1.6 - 0.5), ("huber", 0.9): 0.64,
        ("inverse-power", 2.0): 1 / 0.64, ("log", 1.0): -np.log(1 - e(-0.8)),
        ("logratio", 2.0): -np.log(0.64 / 1.64),
    }  # fmt: skip
    for (name, parameter), value in wanted.items():
        cls = {**ATTRACTIVE, **REPULSIVE}[name]
        found = cls(**dict.fromkeys(parameters(cls), parameter)).at(d, one, np)[0]
        assert found == pytest.approx(value)
    logistic = ATTRACTIVE["logistic"](threshold=0.3, sharpness=2.0)
    assert logistic.at(d, one, np)[0] == pytest.approx(np.log(1 + e(2 * 0.5)))
    two = np.array([2.0])
    losses = {
        "quadratic": 1.44, "weighted": 1.44 / 4, "huber": 2.4 - 1, "absolute": 1.2,
        "logistic": np.log((1 + e(1.2)) / 2), "fractional": 1.5,
        "soft-fractional": np.log((e(25) + e(4)) / (2 * e(10))) / 10,
    }  # fmt: skip
    found = {name: float(cls().at(d, two, np)[0][0]) for name, cls in DEVIATIONS.items()}
    assert found == pytest.approx(losses)
    assert DEVIATIONS["weighted"](exponent=1.0).at(d, two, np)[0] == pytest.approx(0.72)


@pytest.mark.parametrize("a", [0.5, 1.0, 1.5, 2.0, 3.0])
def test_powers_are_convex_from_exponent_1_and_concave_below(a):
    f = ATTRACTIVE["power"](exponent=a).at(np.linspace(0.1, 5, 50), np.ones(50), np)[0]
    bend = np.diff(f, 2)
    assert (bend < 1e-9).all() if a <= 1.0 else (bend > 0).all()


def test_the_huber_penalty_is_convex_and_losses_of_differences_are():
    d = np.linspace(0.01, 5, 200)
    convex = [ATTRACTIVE["huber"](), *(DEVIATIONS[n]() for n in ("quadratic", "huber", "absolute"))]
    for function in convex:
        assert (np.diff(function.at(d, np.full(200, 1.3), np)[0], 2) > -1e-9).all()


def test_soft_fractional_has_the_limits_of_the_book():
    d, given = np.array([0.5, 3.0]), np.array([2.0, 2.0])
    hard = DEVIATIONS["fractional"]().at(d, given, np)[0]
    soft = DEVIATIONS["soft-fractional"]
    assert soft(sharpness=1e3).at(d, given, np)[0] == pytest.approx(hard, abs=1e-3)
    mean = (given / d + d / given - 2) / 2  # the book prints no ½
    assert soft(sharpness=1e-4).at(d, given, np)[0] == pytest.approx(mean, abs=1e-3)


def test_powers_of_float32_agree_with_numpy():
    base = np.array([0.0, 1e-5, 0.3, 1.0, 7.0, 1e4], np.float32)
    for exponent in (0.5, 1.0, 1.5, 2.0, 2.7, 3.0):
        assert np.allclose(power(base, exponent, np), base**exponent, rtol=3e-6)
    assert np.allclose(power(base[1:], -1.3, np), base[1:] ** -1.3, rtol=3e-6)


@pytest.mark.torch
@pytest.mark.parametrize("function", VARIANTS, ids=identity)
def test_torch_agrees_with_numpy(function):
    torch = pytest.importorskip("torch")
    d, given = (a.ravel().astype(np.float32) for a in np.meshgrid([0.0, *D, 1e9], GIVEN))
    ours = function.at(d, given, np)
    theirs = function.at(torch.from_numpy(d), torch.from_numpy(given), torch)
    for one, other in zip(ours, theirs, strict=True):
        assert other.dtype == torch.float32
        size = np.abs(one[np.isfinite(one)]).max()
        assert np.allclose(one, other.numpy(), rtol=1e-4, atol=1e-6 * size)


def test_barriers_are_flat_below_the_least_distance():
    for cls in REPULSIVE.values():
        at = cls().at(np.array([0.0, NEAR / 3, NEAR]), np.ones(3), np)[0]
        assert at[0] == np.inf
        assert at[1] == at[2] < np.inf
