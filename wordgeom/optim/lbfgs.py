"""L-BFGS: limited-memory quasi-Newton steps with a strong Wolfe line search.

Liu and Nocedal (1989). The direction is that of the two-loop recursion over the last pairs of
steps s and changes y of the gradient, scaled by sᵀy / yᵀy. It takes 2 · memory + 5 arrays of the
size of the unknowns. Arrays are flat, float64; the next step depends on `State` alone, so that a
saved one continues with the same bytes. Not for functions with kinks or noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from wordgeom.core.types import Array, Float64
from wordgeom.optim.line_search import Point, dot, wolfe_step
from wordgeom.optim.stopping import settled

Function = Callable[[Float64], tuple[float, Float64]]
MEMORY = 6  # pairs of a step and a change of the gradient
_SPAN = 5  # steps over which the decrease is measured
_ROUNDING = 1e-12  # of sᵀy relative to ‖s‖ ‖y‖, below which a pair is not kept


@dataclass
class State:
    """Where an optimisation stands.

    x, gradient (n); values: the function before the first step and after each; steps, changes: of
    x and of the gradient, the last few; evaluations: of the function so far; stuck: whether no
    step decreased the function.
    """

    x: Float64
    gradient: Float64
    values: list[float]
    steps: list[Float64] = field(default_factory=list)
    changes: list[Float64] = field(default_factory=list)
    evaluations: int = 1
    stuck: bool = False

    @classmethod
    def start(cls, function: Function, x: Float64) -> State:
        """Return the state before the first step."""
        value, gradient = function(x)
        return cls(x, gradient, [value])

    def saved(self) -> Mapping[str, Array]:
        """Return the state as the arrays of a checkpoint."""
        pairs = {"steps": self.steps, "changes": self.changes}
        return {
            "x": self.x, "gradient": self.gradient, "values": np.array(self.values),
            "counts": np.array([self.evaluations, int(self.stuck)]),
            **{name: np.array(rows).reshape(-1, len(self.x)) for name, rows in pairs.items()},
        }  # fmt: skip

    @classmethod
    def restored(cls, arrays: Mapping[str, Array]) -> State:
        """Return the state of a checkpoint."""
        x, gradient = (np.array(arrays[name]) for name in ("x", "gradient"))
        steps, changes = ([np.array(row) for row in arrays[name]] for name in ("steps", "changes"))
        evaluations, stuck = arrays["counts"].tolist()
        return cls(x, gradient, arrays["values"].tolist(), steps, changes, evaluations, bool(stuck))


class Lbfgs:
    """Minimises a function (value and gradient of a flat array) from a state."""

    def __init__(self, function: Function, state: State, *, most: int, tol: float) -> None:
        self.state, self._function, self._most, self._tol = state, function, most, tol

    @property
    def reached(self) -> bool:
        """Whether the value has settled, or cannot decrease further in floating point."""
        flat = self.state.stuck or not self.state.gradient.any()
        return flat or settled(self.state.values, self._tol, _SPAN)

    def iterations(self) -> Iterator[int]:
        """Take steps until the value settles or `most` are taken, and yield 1 after each."""
        while not self.reached and len(self.state.values) <= self._most:
            self._step()
            yield 1

    def _step(self) -> None:
        """Take a step; along the gradient where the quasi-Newton direction has none."""
        state = self.state
        found = self._along(self._direction())
        if found is None and state.steps:
            state.steps.clear()
            state.changes.clear()
            found = self._along(-state.gradient)
        if found is None:
            state.stuck = True
            state.values.append(state.values[-1])
            return
        point, moved = found
        change = point.gradient - state.gradient
        curvature = dot(moved, change)
        if curvature > _ROUNDING * np.sqrt(dot(moved, moved) * dot(change, change)):
            state.steps.append(moved)
            state.changes.append(change)
            del state.steps[:-MEMORY], state.changes[:-MEMORY]
        state.x = state.x + moved
        state.gradient = point.gradient
        state.values.append(point.value)

    def _along(self, direction: Float64) -> tuple[Point, Float64] | None:
        """Return the point of a line search and the step (n) to it, None without a decrease."""
        state = self.state
        start = Point(0.0, state.values[-1], dot(state.gradient, direction), state.gradient)
        if not start.slope < 0.0:
            return None

        def probe(step: float) -> Point:
            state.evaluations += 1
            value, gradient = self._function(state.x + step * direction)
            return Point(step, value, dot(gradient, direction), gradient)

        point = wolfe_step(probe, start, self._first_step())
        return None if point is None else (point, point.step * direction)

    def _first_step(self) -> float:
        """Return the first step to try: 1, or before any curvature is known a small one."""
        if self.state.steps:
            return 1.0
        size = np.sqrt(dot(self.state.x, self.state.x))
        length = np.sqrt(dot(self.state.gradient, self.state.gradient))
        return float(1e-2 * (size or 1.0) / length)

    def _direction(self) -> Float64:
        """Return −H ∇ (n) by the two-loop recursion."""
        state = self.state
        direction, shares = -state.gradient, []
        pairs = list(zip(state.steps, state.changes, strict=True))
        for s, y in reversed(pairs):
            shares.append(dot(s, direction) / dot(s, y))
            direction -= shares[-1] * y
        if pairs:
            s, y = pairs[-1]
            direction *= dot(s, y) / dot(y, y)
        for (s, y), share in zip(pairs, reversed(shares), strict=True):
            direction += (share - dot(y, direction) / dot(s, y)) * s
        return direction
