"""Descent by Adam (Kingma and Ba 2015) or SGD, in mini-batches of words with all their pairs.

A batch holds random words, each with its pairs with all anchors, and its mean squared residual is
an unbiased estimate of the objective. Words that are no anchors get a step only in their own batch:
their moments count epochs, those of anchors count batches. In full batches this is torch.optim.

Batches are computed in blocks of constant size on the pool, one Torch thread each, and added in
order: the same bytes at any number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import torch

from wordgeom.core.errors import OptionError
from wordgeom.core.types import Array
from wordgeom.methods.sgd.objective import Pairs, Slope

ADAM, SGD = "adam", "sgd"
_PARTS = ("vectors", "first", "second")  # arrays of a checkpoint
_BETAS, _EPSILON = (0.9, 0.999), 1e-8  # Torch's defaults
_BLOCK = {"cpu": 1 << 18, "cuda": 1 << 24}  # pairs computed at once: 1 MB on the CPU
_SPAN = 10  # epochs over which the fall of the loss is measured
_ROUNDED = 16.0  # relative error of inner products of rounded vectors, in units of rounding
_EXPLODED = 1e4  # times the loss of the start or of zero vectors

Map = Callable[[Callable[[Any], Any], Iterable[Any]], Iterator[Any]]


@dataclass(frozen=True)
class Settings:
    """How to descend.

    optimiser: adam or sgd; rate: the learning rate, 0 for a safe one of SGD; epochs: their maximum;
    batch: pairs, 0 for all; tol: relative change of the loss over ten epochs at which to stop;
    enough: loss below which to stop.
    """

    optimiser: str
    rate: float
    epochs: int
    batch: int = 0
    tol: float = 0.0
    enough: float = 0.0
    seed: int = 1


@dataclass
class State:
    """Vectors (V × K), Adam's moments (V × K), the mean loss of each epoch, and steps so far.

    moments: two, or none for SGD; losses: of the vectors before the step of each batch; rate: the
    learning rate, 0 before it is chosen.
    """

    vectors: torch.Tensor
    moments: tuple[torch.Tensor, ...]
    losses: list[float] = field(default_factory=list)
    steps: int = 0
    rate: float = 0.0

    @classmethod
    def start(cls, vectors: Array, optimiser: str, device: str = "cpu") -> State:
        """Return the state before the first step, which changes `vectors` on the CPU."""
        own = torch.from_numpy(vectors).to(device)
        return cls(own, tuple(torch.zeros_like(own) for _ in range(2 if optimiser == ADAM else 0)))

    def saved(self) -> Mapping[str, Array]:
        """Return the state as the arrays of a checkpoint."""
        parts = zip(_PARTS, (self.vectors, *self.moments), strict=False)
        tall = {name: part.cpu().numpy() for name, part in parts}
        numbers = {"steps": np.array([self.steps]), "rate": np.array([self.rate])}
        return {**tall, **numbers, "losses": np.array(self.losses)}

    @classmethod
    def restored(cls, arrays: Mapping[str, Array], device: str) -> State:
        """Return the state of a checkpoint."""
        found = (np.array(arrays[name]) for name in _PARTS if name in arrays)
        vectors, *moments = (torch.from_numpy(part).to(device) for part in found)
        steps, rate = int(arrays["steps"][0]), float(arrays["rate"][0])
        return cls(vectors, tuple(moments), arrays["losses"].tolist(), steps, rate)


class Descent:
    """Takes the steps of a state; run: maps a function over blocks, in order."""

    def __init__(self, state: State, pairs: Pairs, settings: Settings, run: Map = map) -> None:
        self.state, self.pairs = state, pairs
        self._run = run if state.vectors.device.type == "cpu" else map
        m = len(pairs.anchors)
        self._count = -(-pairs.words // max(1, settings.batch // m)) if settings.batch else 1
        self._block = max(1, _BLOCK[state.vectors.device.type] // m)
        self._zero = self.loss(torch.zeros_like(state.vectors[:, :1]))
        self._first = 0.0  # loss of the first batch
        state.rate = settings.rate or state.rate or self._safe_rate()
        self.settings = replace(settings, rate=state.rate)

    @property
    def _worst(self) -> float:
        """The loss that descent must not exceed: of zero vectors or of the start."""
        return max([self._zero, *(self.state.losses[:1] or [self._first])])

    @property
    def reached(self) -> bool:
        """Whether the loss is low enough or a rounding error, or changes within the tolerance."""
        losses, asked = self.state.losses, self.settings
        if losses and (losses[-1] < asked.enough or self._is_rounding(losses[-1])):
            return True
        if len(losses) <= _SPAN:
            return False
        before = losses[-1 - _SPAN]
        return abs(before - losses[-1]) <= asked.tol * before and asked.tol > 0.0

    def epochs(self) -> Iterator[int]:
        """Run epochs until a stop is reached, and yield 1 after each. Raises OptionError."""
        if not self.state.losses and self._is_rounding(loss := self.loss(self.state.vectors)):
            self.state.losses.append(loss)  # a step of Adam would leave an exact solution
        while not self.reached and len(self.state.losses) < self.settings.epochs:
            epoch, squares = len(self.state.losses) + 1, 0.0
            for rows in self._batches(epoch):
                squares += self._step(rows, epoch)
            self.state.losses.append(squares / self.pairs.number)
            if epoch > _SPAN and self.state.losses[-1] > self._worst:
                raise self._diverged(epoch, self.state.losses[-1])
            yield 1

    def loss(self, vectors: torch.Tensor) -> float:
        """Return the objective of vectors (V × K)."""
        A = vectors[self.pairs.anchors]
        rows = torch.arange(self.pairs.words, device=vectors.device)

        def squares(block: torch.Tensor) -> float:
            return self.pairs.squares(block, vectors[block], A)

        return math.fsum(self._run(squares, self._blocks(rows))) / self.pairs.number

    def _is_rounding(self, loss: float) -> bool:
        """Return whether a loss is that of rounded vectors."""
        eps: float = torch.finfo(self.state.vectors.dtype).eps
        return loss <= (_ROUNDED * eps) ** 2 * self._zero

    def _safe_rate(self) -> float:
        """Return 1 / L for SGD, where L = 8 max(‖V‖², ‖G‖) / pairs bounds a batch's curvature.

        ‖V‖ is the spectral norm at the start, ‖G‖ the Frobenius norm, a bound for that of a
        solution.
        """
        vectors = self.state.vectors
        largest = float(torch.linalg.matrix_norm(vectors.T @ vectors, 2))
        among = self.pairs.number / self._count
        return among / (8.0 * max(largest, math.sqrt(self._zero * self.pairs.number)))

    def _batches(self, epoch: int) -> tuple[torch.Tensor, ...]:
        """Return the rows of each batch, drawn by the seed and the epoch; sizes differ by 1.

        A smaller last batch would take larger steps.
        """
        rows, device = np.arange(self.pairs.words), self.state.vectors.device
        if self._count > 1:
            np.random.default_rng((self.settings.seed, epoch)).shuffle(rows)
        return tuple(torch.tensor_split(torch.from_numpy(rows).to(device), self._count))

    def _blocks(self, rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Return rows in blocks that are computed at once."""
        return tuple(torch.split(rows, self._block))

    def _step(self, rows: torch.Tensor, epoch: int) -> float:
        """Take the step of a batch, and return Σ R² before it."""
        self.state.steps += 1
        vectors, anchors = self.state.vectors, self.pairs.anchors
        A, among = vectors[anchors], self.pairs.among(rows)
        gradient, squares = torch.zeros_like(A), 0.0

        def run(block: torch.Tensor) -> Slope:
            slope = self.pairs.slope(block, vectors[block], A)
            others = self.pairs.position[block] < 0
            self._move(block[others], slope.rows[others] / among, epoch)
            return slope

        for slope in self._run(run, self._blocks(rows)):
            gradient += slope.anchors
            squares += slope.squares
        if self.state.steps == 1:
            self._first = squares / among
        if not math.isfinite(squares) or squares > _EXPLODED * self._worst * among:
            raise self._diverged(epoch, squares / among)
        self._move(anchors, gradient / among, self.state.steps)
        return squares

    def _move(self, rows: torch.Tensor, gradient: torch.Tensor, step: int) -> None:
        """Update the vectors of rows by the gradient (rows × K) of their `step`-th step."""
        rate = self.settings.rate
        if not self.state.moments:
            self.state.vectors[rows] -= rate * gradient
            return
        first, second = (moment[rows] for moment in self.state.moments)
        first.lerp_(gradient, 1.0 - _BETAS[0])
        second.mul_(_BETAS[1]).addcmul_(gradient, gradient, value=1.0 - _BETAS[1])
        for moment, new in zip(self.state.moments, (first, second), strict=True):
            moment[rows] = new
        unbiased = [1.0 - beta**step for beta in _BETAS]
        scale = (second.sqrt() / unbiased[1] ** 0.5).add_(_EPSILON)
        self.state.vectors[rows] -= rate / unbiased[0] * first / scale

    def _diverged(self, epoch: int, loss: float) -> OptionError:
        at = f"at step {self.state.steps:,} (epoch {epoch:,})"
        what = f"--rate {self.settings.rate:g} diverges: the loss {at} is {loss:.3g}"
        do = f"lower --rate, for example to {self.settings.rate / 10:.2g}"
        return OptionError(
            f"{what}, but {self._worst:.3g} at the start or with zero vectors", do=do
        )


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let Torch compute on the calling threads alone."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
