"""L-BFGS: minima that are known, the Wolfe conditions, stops, and a resumed run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wordgeom.linalg.numpy_ops import NumpyOps
from wordgeom.optim.constraints import Centered
from wordgeom.optim.lbfgs import Lbfgs, State
from wordgeom.optim.line_search import Point, wolfe_step
from wordgeom.runtime.pool import Pool

MEMORY = 6


def rosenbrock(x):
    """Σ 100 (x_{k+1} − x_k²)² + (1 − x_k)², whose minimum is 0 at ones."""
    rise, fall = x[1:] - x[:-1] ** 2, 1.0 - x[:-1]
    gradient = np.zeros(len(x))
    gradient[1:] += 200.0 * rise
    gradient[:-1] -= 400.0 * rise * x[:-1] + 2.0 * fall
    return float(100.0 * rise @ rise + fall @ fall), gradient


@dataclass
class Run:
    """A finished descent."""

    state: State
    reached: bool


def run(function, start, **settings):
    with Pool(2) as pool:
        descent = Lbfgs(function, NumpyOps(pool), **{"most": 3000, **settings})
        state = start
        if not isinstance(start, State):
            state = descent.start(np.array(start, float), MEMORY)
        for _ in descent.iterations(state):
            pass
        return Run(state, descent.reached(state))


@pytest.mark.parametrize("n", [2, 10, 200])
def test_the_minimum_of_rosenbrock_s_function_is_found(n):
    found = run(rosenbrock, np.full(n, -0.5))
    assert found.reached
    np.testing.assert_allclose(found.state.x, 1.0, atol=1e-6)
    assert (np.diff(found.state.values) <= 0.0).all()
    assert found.state.kept <= MEMORY


def test_a_quadratic_is_solved_like_its_linear_system():
    rng = np.random.default_rng(3)
    A = rng.standard_normal((30, 12))
    H, b = A.T @ A + 0.1 * np.eye(12), rng.standard_normal(12)
    found = run(lambda x: (float(0.5 * x @ H @ x - b @ x), H @ x - b), np.zeros(12))
    np.testing.assert_allclose(found.state.x, np.linalg.solve(H, b), atol=1e-6)


def test_a_diagonal_hessian_is_a_change_of_coordinates():
    """Steps are those for f(D^−½ z) without D, where z = D^½ x."""
    rng = np.random.default_rng(5)
    A, target = rng.standard_normal((30, 8)), rng.standard_normal((8, 2))
    D = np.geomspace(0.01, 100.0, 8)
    H, roots = A.T @ A + np.diag(D), np.sqrt(D)[:, None]

    def function(x):
        apart = x - target
        return float(0.5 * np.sum(apart * (H @ apart))), H @ apart

    def scaled(z):
        value, gradient = function(z / roots)
        return value, gradient / roots

    start = rng.standard_normal((8, 2))
    size = np.linalg.norm
    gradient = function(start)[1]
    with Pool(1) as pool:
        ops = NumpyOps(pool)
        # The first step is relative to the unknowns: both are −D⁻¹ times the gradient.
        direct = float(size(gradient / D[:, None]) / size(start))
        ours = Lbfgs(function, ops, curvatures=D, first=direct, most=9)
        first = float(size(gradient / roots) / size(start * roots))
        theirs = Lbfgs(scaled, ops, first=first, most=9)
        states = [ours.start(start, MEMORY), theirs.start(start * roots, MEMORY)]
        for descent, state in zip((ours, theirs), states, strict=True):
            for _ in descent.iterations(state):
                pass
    np.testing.assert_allclose(states[0].values, states[1].values, rtol=1e-6)
    np.testing.assert_allclose(states[0].x, states[1].x / roots, rtol=1e-5)
    last = function(states[0].x)[1]
    np.testing.assert_allclose(states[0].norms[-1], size(last), rtol=1e-8)


def test_scaled_steps_meet_the_constraint():
    rng = np.random.default_rng(6)
    scales = np.geomspace(0.1, 10.0, 20)[:, None]

    def function(x):  # a step along D⁻¹∇ alone would move the mean
        return float(0.25 * np.sum(scales * x**4)), scales * x**3

    with Pool(1) as pool:
        ops = NumpyOps(pool)
        descent = Lbfgs(function, ops, most=20, constraint=Centered(20, ops),
                        curvatures=scales[:, 0])  # fmt: skip
        state = descent.start(rng.standard_normal((20, 3)), MEMORY)
        for _ in descent.iterations(state):
            np.testing.assert_allclose(state.x.mean(axis=0), 0.0, atol=1e-12)
    assert (np.diff(state.values) < 0.0).all()


def test_it_takes_no_more_evaluations_than_scipy_by_a_half():
    from scipy.optimize import minimize

    start, count = np.full(50, -0.5), 0

    def counted(x):
        nonlocal count
        count += 1
        return rosenbrock(x)

    theirs = minimize(rosenbrock, start, jac=True, method="L-BFGS-B", options={"maxcor": MEMORY})
    with Pool(1) as pool:
        descent = Lbfgs(counted, NumpyOps(pool), most=10_000)
        found = Run(descent.start(start, MEMORY), False)
        for _ in descent.iterations(found.state):
            if found.state.values[-1] <= theirs.fun:
                break
    assert found.state.values[-1] <= theirs.fun
    assert count == found.state.evaluations <= 1.5 * theirs.nfev


def test_a_start_without_a_gradient_is_left_as_it_is():
    found = run(rosenbrock, np.ones(5))
    assert (found.reached, found.state.values) == (True, [0.0])


def test_the_tolerance_and_the_number_of_steps_stop():
    assert len(run(rosenbrock, np.full(50, -0.5), most=7).state.values) == 8
    assert not run(rosenbrock, np.full(50, -0.5), most=7).reached
    early = run(rosenbrock, np.full(50, -0.5), tol=0.2)
    assert early.reached
    values = early.state.values
    assert values[-6] - values[-1] <= 0.2 * values[-6]
    assert values[-7] - values[-2] > 0.2 * values[-7]


def test_values_that_overflow_are_stepped_back_from():
    def steep(x):
        with np.errstate(over="ignore", invalid="ignore"):
            value = np.exp(x) - 20.0 * x
            return float(value.sum()), np.exp(x) - 20.0

    found = run(steep, np.full(3, -800.0))
    np.testing.assert_allclose(found.state.x, np.log(20.0), rtol=1e-6)


@pytest.mark.parametrize("cut", [1, 4, 17])
def test_a_restored_state_continues_with_the_same_bytes(cut):
    start = np.linspace(-1.0, 2.0, 40)
    whole = run(rosenbrock, start, most=40).state
    part = run(rosenbrock, start, most=cut).state
    with Pool(1) as pool:
        ops = NumpyOps(pool)
        saved = {name: np.array(array) for name, array in part.saved(ops).items()}
        rest = run(rosenbrock, State.restored(saved, ops), most=40)
    assert rest.state.x.tobytes() == whole.x.tobytes()
    assert rest.state.values == whole.values
    assert rest.state.evaluations == whole.evaluations


@given(
    st.lists(st.floats(-3, 3), min_size=2, max_size=5),
    st.floats(1e-4, 1e3),
    st.floats(-2.0, 2.0),
)
def test_a_step_meets_the_strong_wolfe_conditions(coefficients, first, at):
    def value(t):
        waves = sum(c * np.sin((k + 1) * t + c) for k, c in enumerate(coefficients))
        return 0.1 * t**2 + waves

    def probe(step):
        t, h = at + step * sign, 1e-6
        return Point(step, value(t), sign * (value(t + h) - value(t - h)) / (2 * h), None)

    sign = 1.0
    if probe(0.0).slope > 0.0:
        sign = -1.0
    start = probe(0.0)
    if start.slope > -1e-3:
        return
    found = wolfe_step(probe, start, first)
    assert found is not None
    assert found.value <= start.value + 1e-4 * found.step * start.slope
    assert abs(found.slope) <= 0.9 * abs(start.slope) + 1e-6


def test_a_direction_without_descent_has_no_step():
    start = Point(0.0, 0.0, -1.0, None)
    assert wolfe_step(lambda step: Point(step, step, 1.0, None), start, 1.0) is None
