"""Gradient descent on a dense matrix, and the synthetic problems of the paper (Appendix A)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from wordgeom.core.types import Float64
from wordgeom.methods.sgd.descent import Descent, Settings, State, one_torch_thread
from wordgeom.methods.sgd.objective import DenseTargets, Pairs


@dataclass(frozen=True)
class Descended:
    """Vectors (n × K), their loss (eq. 13), the loss of each epoch, and whether a stop was met."""

    vectors: Float64
    loss: float
    losses: list[float]
    reached: bool


def noisy_gram(n: int, K: int, noise: float, rng: np.random.Generator) -> Float64:
    """Return G (n × n) of Algorithm 3: inner products of centred normal points, with noise.

    The noise of an entry is normal with standard deviation noise · |G_ij|, since the printed
    variance, η G_ij, may be negative. A negative diagonal entry becomes 0.
    """
    points = rng.standard_normal((n, K))
    points -= points.mean(0)
    true = points @ points.T
    noisy = np.triu(true + rng.standard_normal((n, n)) * noise * np.abs(true))
    G = noisy + np.triu(noisy, 1).T
    np.fill_diagonal(G, np.maximum(G.diagonal(), 0.0))
    return G


def random_start(n: int, K: int, rng: np.random.Generator, deviation: float = 1.0) -> Float64:
    """Return a start (n × K) of independent normal entries."""
    return deviation * rng.standard_normal((n, K))


def score(G: Float64, vectors: Float64, references: int) -> float:
    """Return eq. 13 of vectors (n × K) for G (n × n), its first `references` words as anchors."""
    with one_torch_thread():
        state = State(torch.from_numpy(np.array(vectors, np.float64)), ())
        return Descent(state, _pairs(G, references), Settings("sgd", 1.0, 0)).loss(state.vectors)


def descend(G: Float64, start: Float64, references: int, settings: Settings) -> Descended:
    """Minimise eq. 13 from `start` (n × K), in float64 on one thread. Raises OptionError."""
    with one_torch_thread():
        state = State.start(np.array(start, np.float64), settings.optimiser)
        descent = Descent(state, _pairs(G, references), settings)
        for _ in descent.epochs():
            pass
        loss = descent.loss(state.vectors)
    return Descended(state.vectors.numpy(), loss, state.losses, descent.reached)


def _pairs(G: Float64, references: int) -> Pairs:
    columns = np.ascontiguousarray(G[:, :references], np.float64)
    return Pairs(DenseTargets(columns), np.arange(references), len(G))
