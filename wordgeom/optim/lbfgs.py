"""L-BFGS under a constraint: quasi-Newton steps with a strong Wolfe line search.

Liu and Nocedal (1989); with projected gradients and projected steps, Agrawal, Ali and Boyd (2021),
algorithm 6.1. The direction of the two-loop recursion is a combination of the last steps s and
projected gradients, whose differences are the changes y. Its coefficients follow from the inner
products of these alone (Chen et al. 2014), so that a step reads the history twice, not four times.
The unknowns stay on the device and keep their type. The next step depends on `State` alone, so that
a saved one continues with the same bytes. Not for functions with kinks or noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from wordgeom.core.ops import Ops, Tall, dot
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.optim.constraints import Constraint, Free
from wordgeom.optim.line_search import Point, wolfe_step
from wordgeom.optim.stopping import settled

Function = Callable[[Tall], tuple[float, Tall]]
_SPAN = 5  # steps over which the decrease is measured
_ROUNDING = 1e-12  # of sᵀy relative to ‖s‖ ‖y‖, below which a pair is not kept
_FIRST = 1e-2  # length of the first step relative to that of x


@dataclass
class State:
    """Where an optimisation stands.

    x (n × m): the unknowns; history (2 M + 2 × n m): projected gradient k in row 2 (k mod M + 1),
    and below it the step from there, of the last M + 1; products (2 M + 2 × 2 M + 2): its inner
    products; values, norms: of the function and of that gradient, before the first step and after
    each; lengths: of each step relative to x; taken: steps so far, of which the last `kept` are in
    use; evaluations: of the function so far; stuck: whether no step decreased the function.
    """

    x: Tall
    history: Tall
    products: Float64
    values: list[float]
    norms: list[float] = field(default_factory=list)
    lengths: list[float] = field(default_factory=list)
    kept: int = 0
    taken: int = 0
    evaluations: int = 1
    stuck: bool = False

    @property
    def memory(self) -> int:
        """M, the number of steps that the history holds in use."""
        return len(self.products) // 2 - 1

    @property
    def filled(self) -> Tall:
        """The rows of the history that have been written: the first ones."""
        return self.history[: min(2 * self.taken + 1, len(self.products))]

    def row(self, back: int = 0) -> int:
        """Return the row of the current projected gradient, or of that `back` steps before."""
        return 2 * ((self.taken - back) % (self.memory + 1))

    def saved(self, ops: Ops) -> Mapping[str, Array]:
        """Return the state as the arrays of a checkpoint."""
        return {
            "x": ops.to_numpy(self.x), "history": ops.to_numpy(self.filled),
            "products": self.products, **{name: np.array(getattr(self, name)) for name in _LISTS},
            "counts": np.array([self.kept, self.taken, self.evaluations, int(self.stuck)]),
        }  # fmt: skip

    @classmethod
    def restored(cls, arrays: Mapping[str, Array], ops: Ops) -> State:
        """Return the state of a checkpoint."""
        x, filled = (ops.tall(arrays[name], arrays[name].dtype) for name in ("x", "history"))
        products = np.array(arrays["products"])
        history = ops.empty(len(products), filled.shape[1], arrays["history"].dtype)
        history[: len(filled)] = filled
        values, norms, lengths = (arrays[name].tolist() for name in _LISTS)
        kept, taken, evaluations, stuck = arrays["counts"].tolist()
        return cls(
            x, history, products, values, norms, lengths, kept, taken, evaluations, bool(stuck)
        )


_LISTS = ("values", "norms", "lengths")


class Lbfgs:
    """Minimises a function (value and gradient at an array) under a constraint.

    most: steps; tol: relative decrease over five steps at which it stops; enough: norm of the
    projected gradient at which it stops.
    """

    def __init__(
        self, function: Function, ops: Ops, *, most: int, tol: float = 0.0, enough: float = 0.0,
        constraint: Constraint | None = None,
    ) -> None:  # fmt: skip
        self._function, self._ops, self._constraint = function, ops, constraint or Free()
        self._most, self._tol, self._enough = most, tol, enough

    def start(self, x: Array, memory: int) -> State:
        """Return the state before the first step from x (n × m), with room for `memory` steps."""
        at = self._constraint.onto(self._ops.tall(x, x.dtype))
        value, gradient = self._at(at)
        rows = 2 * memory + 2
        history = self._ops.empty(rows, x.size, x.dtype)
        history[0] = gradient.reshape(-1)
        state = State(at, history, np.zeros((rows, rows)), [value])
        self._multiply(state, [0])
        state.norms.append(_norm(state))
        return state

    def reached(self, state: State) -> bool:
        """Whether the value or gradient has settled, or rounding allows no further decrease."""
        flat = state.stuck or state.norms[-1] <= self._enough
        return flat or settled(state.values, self._tol, _SPAN)

    def iterations(self, state: State) -> Iterator[int]:
        """Take steps until the value settles or `most` are taken, and yield 1 after each."""
        while not self.reached(state) and len(state.values) <= self._most:
            with one_thread():
                self._step(state)
            yield 1

    def _at(self, x: Tall) -> tuple[float, Tall]:
        """Return the value and the projected gradient at x."""
        value, gradient = self._function(x)
        return value, self._constraint.tangent(x, gradient)

    def _step(self, state: State) -> None:
        """Take a step; along the gradient where the quasi-Newton direction has none."""
        found = self._search(state)
        if found is None and state.kept:
            state.kept = 0
            found = self._search(state)
        if found is None:
            state.stuck = True
            values, length = state.values[-1], 0.0
        else:
            values, length = found.value, self._keep(state, *found.kept)
        state.values.append(values)
        state.norms.append(_norm(state))
        state.lengths.append(length)

    def _search(self, state: State) -> Point | None:
        """Return the point of a line search, with x and gradient, None without a decrease."""
        weights = _weights(state)
        slope = float(state.products[state.row()] @ weights)
        if not slope < 0.0:
            return None
        rows = state.filled
        direction = self._ops.row_sum(weights[: len(rows)], rows).reshape(state.x.shape)

        def probe(step: float) -> Point:
            state.evaluations += 1
            x = self._ops.along(state.x, step, direction)
            if not self._constraint.flat:
                x = self._constraint.onto(x)
            value, gradient = self._at(x)
            return Point(step, value, dot(self._ops, gradient, direction), (x, gradient))

        start = Point(0.0, state.values[-1], slope, None)
        return wolfe_step(probe, start, self._first_step(state))

    def _first_step(self, state: State) -> float:
        """Return the first step to try: 1, or before any curvature is known a small one."""
        if state.kept:
            return 1.0
        size = np.sqrt(dot(self._ops, state.x, state.x))
        return float(_FIRST * (size or 1.0) / state.norms[-1])

    def _keep(self, state: State, x: Tall, gradient: Tall) -> float:
        """Move to x, add the step to the history, and return its length relative to x."""
        size, before, step = dot(self._ops, state.x, state.x), state.row(), state.row() + 1
        self._ops.along(x, -1.0, state.x, out=state.history[step].reshape(x.shape))
        state.x, state.taken = x, state.taken + 1
        after = state.row()
        state.history[after] = gradient.reshape(-1)
        self._multiply(state, [step, after])
        products = state.products
        s, y = products[step, step], _change(products, before, after)
        curvature = products[step, after] - products[step, before]
        enough = curvature > _ROUNDING * np.sqrt(s * (y[after] - y[before]))
        state.kept = min(state.kept + 1, state.memory) if enough else 0
        return float(np.sqrt(s / size)) if size > 0.0 else float(s > 0.0)

    def _multiply(self, state: State, rows: list[int]) -> None:
        """Renew the inner products of rows of the history."""
        filled = state.filled
        products = self._ops.row_products(filled, [filled[row] for row in rows])
        state.products[: len(filled), rows] = products
        state.products[rows, : len(filled)] = products.T


def _weights(state: State) -> Float64:
    """Return the weights (2 M + 2) of the history in −H ∇, by the two-loop recursion."""
    products, weights = state.products, np.zeros(len(state.products))
    weights[state.row()] = -1.0
    pairs, shares = [], []  # of steps, the last first
    for k in range(state.kept):
        before, after = state.row(k + 1), state.row(k)
        step, change = products[before + 1], _change(products, before, after)
        curvature = step[after] - step[before]
        share = step @ weights / curvature
        weights[after] -= share
        weights[before] += share
        pairs.append((before + 1, change, curvature))
        shares.append(share)
    if pairs:
        change, curvature = pairs[0][1:]
        weights *= curvature / (change[state.row()] - change[state.row(1)])
    for (s, change, curvature), share in zip(reversed(pairs), reversed(shares), strict=True):
        weights[s] += share - change @ weights / curvature
    return weights


def _change(products: Float64, before: int, after: int) -> Float64:
    """Return the inner products of the history with y, the difference of two gradients."""
    change: Float64 = products[after] - products[before]
    return change


def _norm(state: State) -> float:
    """Return the norm of the projected gradient."""
    return float(np.sqrt(state.products[state.row(), state.row()]))
