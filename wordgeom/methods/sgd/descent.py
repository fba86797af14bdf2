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
_BETAS, _EPSILON = (0.9, 0.999), 1e-8  # Torch's defaults
_BLOCK = {"cpu": 1 << 18, "cuda": 1 << 24}  # pairs computed at once: 1 MB on the CPU
_SPAN = 10  # epochs over which the fall of the loss is measured
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

    moments: two, or none for SGD; losses: of the vectors before the step of each batch.
    """

    vectors: torch.Tensor
    moments: tuple[torch.Tensor, ...]
    losses: list[float] = field(default_factory=list)
    steps: int = 0

    @classmethod
    def start(cls, vectors: Array, optimiser: str, device: str = "cpu") -> State:
        """Return the state before the first step, which changes `vectors` on the CPU."""
        own = torch.from_numpy(vectors).to(device)
        return cls(own, tuple(torch.zeros_like(own) for _ in range(2 if optimiser == ADAM else 0)))

    def saved(self) -> Mapping[str, Array]:
        """Return the state as the arrays of a checkpoint."""
        parts = {f"moment{k}": part for k, part in enumerate(self.moments)}
        tall = {k: part.cpu().numpy() for k, part in {"vectors": self.vectors, **parts}.items()}
        return {**tall, "losses": np.array(self.losses), "steps": np.array([self.steps])}

    @classmethod
    def restored(cls, arrays: Mapping[str, Array], device: str) -> State:
        """Return the state of a checkpoint."""
        names = ["vectors", *sorted(name for name in arrays if name.startswith("moment"))]
        vectors, *moments = (torch.from_numpy(np.array(arrays[n])).to(device) for n in names)
        return cls(vectors, tuple(moments), arrays["losses"].tolist(), int(arrays["steps"][0]))


class Descent:
    """Takes the steps of a state; run: maps a function over blocks, in order."""

    def __init__(self, state: State, pairs: Pairs, settings: Settings, run: Map = map) -> None:
        self.state, self.pairs = state, pairs
        self._run = run if state.vectors.device.type == "cpu" else map
        m = len(pairs.anchors)
        self._rows = max(1, settings.batch // m) if settings.batch else pairs.words
        self._block = max(1, _BLOCK[state.vectors.device.type] // m)
        zero = self.loss(torch.zeros_like(state.vectors[:, :1]))
        self._most = max([zero, *state.losses[:1]])
        self.settings = replace(settings, rate=settings.rate or self._safe_rate(zero))

    @property
    def reached(self) -> bool:
        """Whether the loss is low enough, or changes no more than the tolerance."""
        losses, asked = self.state.losses, self.settings
        if losses and losses[-1] < asked.enough:
            return True
        if len(losses) <= _SPAN:
            return False
        before = losses[-1 - _SPAN]
        return abs(before - losses[-1]) <= asked.tol * before and asked.tol > 0.0

    def epochs(self) -> Iterator[int]:
        """Run epochs until a stop is reached, and yield 1 after each. Raises OptionError."""
        while not self.reached and len(self.state.losses) < self.settings.epochs:
            epoch, squares = len(self.state.losses) + 1, 0.0
            for rows in self._batches(epoch):
                squares += self._step(rows, epoch)
            self.state.losses.append(squares / self.pairs.number)
            if epoch > _SPAN and self.state.losses[-1] > self._most:
                raise self._diverged(epoch, self.state.losses[-1])
            yield 1

    def loss(self, vectors: torch.Tensor) -> float:
        """Return the objective of vectors (V × K)."""
        A = vectors[self.pairs.anchors]
        rows = torch.arange(self.pairs.words, device=vectors.device)
        parts = self._run(
            lambda block: self.pairs.squares(block, vectors[block], A), _split(rows, self._block)
        )
        return sum(parts) / self.pairs.number

    def _safe_rate(self, zero_loss: float) -> float:
        """Return 1 / L for SGD, where L = 8 max(‖V‖², ‖G‖) / pairs bounds a batch's curvature.

        ‖V‖ is the spectral norm at the start, ‖G‖ the Frobenius norm, a bound for that of a
        solution.
        """
        vectors = self.state.vectors
        largest = float(torch.linalg.matrix_norm(vectors.T @ vectors, 2))
        among = min(self._rows * len(self.pairs.anchors), self.pairs.number)
        return among / (8.0 * max(largest, math.sqrt(zero_loss * self.pairs.number)))

    def _batches(self, epoch: int) -> tuple[torch.Tensor, ...]:
        """Return the rows of each batch, in an order that depends on the seed and the epoch."""
        rows, device = np.arange(self.pairs.words), self.state.vectors.device
        if self._rows < self.pairs.words:
            np.random.default_rng((self.settings.seed, epoch)).shuffle(rows)
        return _split(torch.from_numpy(rows).to(device), self._rows)

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

        for slope in self._run(run, _split(rows, self._block)):
            gradient += slope.anchors
            squares += slope.squares
        if self.state.steps == 1:
            self._most = max(self._most, squares / among)
        if not squares / among <= _EXPLODED * self._most:  # also where it is not a number
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
        return OptionError(f"{what}, {self._most:.3g} at the start or for zero vectors", do=do)


def _split(rows: torch.Tensor, size: int) -> tuple[torch.Tensor, ...]:
    return tuple(torch.split(rows, size))


@contextmanager
def one_torch_thread() -> Iterator[None]:
    """Let Torch compute on the calling threads alone."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)
