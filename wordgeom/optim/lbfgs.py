"""L-BFGS under a constraint: quasi-Newton steps with a strong Wolfe line search.

Liu and Nocedal (1989); with projected gradients and projected steps, Agrawal, Ali and Boyd (2021),
algorithm 6.1. The direction of the two-loop recursion is a combination of the last steps s, the
changes y of the projected gradient, and that gradient. Its coefficients follow from the inner
products of these alone (Chen et al. 2014), so that a step reads the history twice, not four times.
The unknowns stay on the device and keep their type. The next step depends on `State` alone, so that
a saved one continues with the same bytes. Not for functions with kinks or noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from wordgeom.core.ops import Ops, Tall
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

    x (n × m): the unknowns; history (2 M + 1 × n m): M rows of steps, M of changes, and the
    projected gradient; products (2 M + 1 × 2 M + 1): its inner products; values, norms: of the
    function and of that gradient, before the first step and after each; lengths: of each step
    relative to x; kept, taken: the pairs in use are the last `kept` of `taken`, pair k in rows
    k mod M; evaluations: of the function so far; stuck: whether no step decreased the function.
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

    def saved(self, ops: Ops) -> Mapping[str, Array]:
        """Return the state as the arrays of a checkpoint."""
        return {
            "x": ops.to_numpy(self.x), "history": ops.to_numpy(self.history),
            "products": self.products, **{name: np.array(getattr(self, name)) for name in _LISTS},
            "counts": np.array([self.kept, self.taken, self.evaluations, int(self.stuck)]),
        }  # fmt: skip

    @classmethod
    def restored(cls, arrays: Mapping[str, Array], ops: Ops) -> State:
        """Return the state of a checkpoint."""
        x, history = (ops.tall(arrays[name], arrays[name].dtype) for name in ("x", "history"))
        values, norms, lengths = (arrays[name].tolist() for name in _LISTS)
        kept, taken, evaluations, stuck = arrays["counts"].tolist()
        products = np.array(arrays["products"])
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
        """Return the state before the first step from x (n × m), with room for `memory` pairs."""
        value, tall, gradient = self._at(self._ops.tall(x, x.dtype))
        rows = 2 * memory + 1
        history = self._ops.empty(rows, x.size, x.dtype)
        history[:] = 0.0
        state = State(tall, history, np.zeros((rows, rows)), [value])
        self._place(state, [rows - 1], [gradient])
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

    def _at(self, tall: Tall) -> tuple[float, Tall, Tall]:
        """Return the value at the projection of an array, that projection, and the gradient."""
        x = self._constraint.onto(tall)
        value, gradient = self._function(x)
        return value, x, self._constraint.tangent(x, gradient)

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
        start = Point(0.0, state.values[-1], float(state.products[-1] @ weights), None)
        if not start.slope < 0.0:
            return None
        direction = self._ops.row_sum(weights, state.history).reshape(state.x.shape)

        def probe(step: float) -> Point:
            state.evaluations += 1
            value, x, gradient = self._at(self._ops.along(state.x, step, direction))
            return Point(step, value, self._inner(gradient, direction), (x, gradient))

        return wolfe_step(probe, start, self._first_step(state))

    def _first_step(self, state: State) -> float:
        """Return the first step to try: 1, or before any curvature is known a small one."""
        if state.kept:
            return 1.0
        size = np.sqrt(self._inner(state.x, state.x))
        return float(_FIRST * (size or 1.0) / state.norms[-1])

    def _keep(self, state: State, x: Tall, gradient: Tall) -> float:
        """Move to x, keep the pair if it has curvature, and return the relative length."""
        M, slot = state.memory, state.taken % state.memory
        step = self._ops.along(x, -1.0, state.x)
        before = state.history[-1].reshape(gradient.shape)
        change = self._ops.along(gradient, -1.0, before)
        size = self._inner(state.x, state.x)
        state.x = x
        self._place(state, [slot, M + slot, 2 * M], [step, change, gradient])
        s, y, curvature = (
            state.products[k] for k in ((slot,) * 2, (M + slot,) * 2, (slot, M + slot))
        )
        if curvature > _ROUNDING * np.sqrt(s * y):
            state.taken += 1
            state.kept = min(state.kept + 1, M)
        else:  # its rows were those of the oldest pair
            state.kept = min(state.kept, M - 1)
        return float(np.sqrt(s / size)) if size > 0.0 else float(s > 0.0)

    def _place(self, state: State, rows: list[int], arrays: list[Tall]) -> None:
        """Put arrays (n × m) into rows of the history, and renew their inner products."""
        for row, array in zip(rows, arrays, strict=True):
            state.history[row] = array.reshape(-1)
        products = self._ops.row_products(state.history, [state.history[row] for row in rows])
        state.products[:, rows] = products
        state.products[rows] = products.T

    def _inner(self, left: Tall, right: Tall) -> float:
        """Return the inner product of two arrays."""
        products = self._ops.row_products(left.reshape(1, -1), [right.reshape(-1)])
        return float(products[0, 0])


def _weights(state: State) -> Float64:
    """Return the weights (2 M + 1) of the history in −H ∇, by the two-loop recursion."""
    M, products = state.memory, state.products
    weights = np.zeros(2 * M + 1)
    weights[-1] = -1.0
    rows = [(state.taken - k) % M for k in range(1, state.kept + 1)]  # the last pair first
    shares = []
    for s in rows:
        shares.append(products[s] @ weights / products[s, M + s])
        weights[M + s] -= shares[-1]
    if rows:
        s = rows[0]
        weights *= products[s, M + s] / products[M + s, M + s]
    for s, share in zip(reversed(rows), reversed(shares), strict=True):
        weights[s] += share - products[M + s] @ weights / products[s, M + s]
    return weights


def _norm(state: State) -> float:
    """Return the norm of the projected gradient."""
    return float(np.sqrt(state.products[-1, -1]))
