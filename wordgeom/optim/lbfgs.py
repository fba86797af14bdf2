"""L-BFGS under a constraint: quasi-Newton steps with a strong Wolfe line search.

Liu and Nocedal (1989); with projected gradients and projected steps, Agrawal, Ali and Boyd (2021),
algorithm 6.1. The direction of the two-loop recursion is a combination of the last steps s, the
changes y of the projected gradient, and that gradient. Its coefficients follow from the inner
products of these alone (Chen et al. 2014), so that a step reads the history twice, not four times.
The recursion starts from the inverse Hessian γ D⁻¹, where D is diagonal, with a number for each row
of the unknowns. In the coordinates D^½ X it is γ I: the history holds D^½ s, D^−½ y and D^−½ times
the gradient.
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


@dataclass
class State:
    """Where an optimisation stands.

    x (n × m): the unknowns; history (2 M + 1 × n m): the projected gradient, then M pairs of a step
    and the change of that gradient, in the coordinates D^½ X; products (2 M + 1 × 2 M + 1): its
    inner products; values, norms: of the function and of the projected gradient, before the first
    step and after each; lengths: of each step relative to x; kept, taken: the pairs in use are the
    last `kept` of `taken`; evaluations: of the function so far; stuck: whether no step decreased
    the function.
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
        """M, the number of pairs that the history holds."""
        return len(self.products) // 2

    @property
    def filled(self) -> Tall:
        """The rows of the history that have been written: the first ones."""
        return self.history[: 2 * min(self.taken, self.memory) + 1]

    def step_row(self, number: int) -> int:
        """Return the row of the step of pair `number`; that of its change follows."""
        return 2 * (number % self.memory) + 1

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
    projected gradient at which it stops; first: length of the first step to try relative to x;
    curvatures (n): D, all 1 by default.
    """

    def __init__(
        self, function: Function, ops: Ops, *, most: int, tol: float = 0.0, enough: float = 0.0,
        constraint: Constraint | None = None, first: float = 1e-2,
        curvatures: Float64 | None = None,
    ) -> None:  # fmt: skip
        self._function, self._ops, self._constraint = function, ops, constraint or Free()
        self._most, self._tol, self._enough, self._first = most, tol, enough, first
        self._roots = None if curvatures is None else np.sqrt(curvatures)

    def start(self, x: Array, memory: int) -> State:
        """Return the state before the first step from x (n × m), with room for `memory` pairs."""
        at = self._constraint.onto(self._ops.tall(x, x.dtype))
        value, gradient = self._at(at)
        rows = 2 * memory + 1
        history = self._ops.empty(rows, x.size, x.dtype)
        norm = self._norm(gradient)
        self._divide(gradient)
        history[0] = gradient.reshape(-1)
        state = State(at, history, np.zeros((rows, rows)), [value], [norm])
        self._multiply(state, [0])
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
            value, norm, length = state.values[-1], state.norms[-1], 0.0
        else:
            value, norm = found.value, self._norm(found.kept[1])
            length = self._keep(state, *found.kept)
        state.values.append(value)
        state.norms.append(norm)
        state.lengths.append(length)

    def _search(self, state: State) -> Point | None:
        """Return the point of a line search, with x and gradient, None without a decrease."""
        weights = _weights(state)
        slope = float(state.products[0] @ weights)
        if not slope < 0.0:
            return None
        rows = state.filled
        direction = self._ops.row_sum(weights[: len(rows)], rows).reshape(state.x.shape)
        if self._roots is not None:
            self._divide(direction)
            direction = self._constraint.tangent(state.x, direction)

        def probe(step: float) -> Point:
            state.evaluations += 1
            x = self._ops.along(state.x, step, direction)
            if not self._constraint.flat:
                x = self._constraint.onto(x)
            value, gradient = self._at(x)
            return Point(step, value, dot(self._ops, gradient, direction), (x, gradient))

        start = Point(0.0, state.values[-1], slope, None)
        return wolfe_step(probe, start, self._first_step(state, direction))

    def _first_step(self, state: State, direction: Tall) -> float:
        """Return the first step to try: 1, or before any curvature is known a small one."""
        if state.kept:
            return 1.0
        return self._first * (self._norm(state.x) or 1.0) / self._norm(direction)

    def _keep(self, state: State, x: Tall, gradient: Tall) -> float:
        """Move to x, keep the pair if it has curvature, and return the relative length."""
        size, row = dot(self._ops, state.x, state.x), state.step_row(state.taken)
        step, change, before = (
            state.history[k].reshape(x.shape) for k in (row, row + 1, 0)
        )  # fmt: skip
        self._ops.along(x, -1.0, state.x, out=step)
        moved = dot(self._ops, step, step)
        if self._roots is not None:
            self._ops.scale_rows(step, self._roots)
        self._divide(gradient)
        self._ops.along(gradient, -1.0, before, out=change)
        before[:] = gradient
        state.x, state.taken = x, state.taken + 1
        self._multiply(state, [0, row, row + 1])
        s, y, curvature = (
            state.products[at] for at in ((row, row), (row + 1, row + 1), (row, row + 1))
        )
        if curvature > _ROUNDING * np.sqrt(s * y):
            state.kept = min(state.kept + 1, state.memory)
        else:  # its rows were those of the oldest pair
            state.taken -= 1
            state.kept = min(state.kept, state.memory - 1)
        return float(np.sqrt(moved / size)) if size > 0.0 else float(moved > 0.0)

    def _norm(self, tall: Tall) -> float:
        return float(np.sqrt(dot(self._ops, tall, tall)))

    def _divide(self, tall: Tall) -> None:
        """Multiply the rows by D^−½."""
        if self._roots is not None:
            self._ops.scale_rows(tall, 1.0 / self._roots)

    def _multiply(self, state: State, rows: list[int]) -> None:
        """Renew the inner products of rows of the history."""
        filled = state.filled
        products = self._ops.row_products(filled, [filled[row] for row in rows])
        state.products[: len(filled), rows] = products
        state.products[rows, : len(filled)] = products.T


def _weights(state: State) -> Float64:
    """Return the weights (2 M + 1) of the history in −H ∇, by the two-loop recursion."""
    products = state.products
    weights = np.zeros(len(products))
    weights[0] = -1.0
    rows = [state.step_row(state.taken - k) for k in range(1, state.kept + 1)]  # the last first
    shares = []
    for s in rows:
        shares.append(products[s] @ weights / products[s, s + 1])
        weights[s + 1] -= shares[-1]
    if rows:
        s = rows[0]
        weights *= products[s, s + 1] / products[s + 1, s + 1]
    for s, share in zip(reversed(rows), reversed(shares), strict=True):
        weights[s] += share - products[s + 1] @ weights / products[s, s + 1]
    return weights
