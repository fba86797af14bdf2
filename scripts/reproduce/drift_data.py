"""Simulated documents for `drift_levels.py`: X = A B₀ + t∘(A B₁) + Z and variants of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Csr, Float64

N, P, TOPICS, YEARS = 1000, 20, 4, 50  # documents, words, topics; years for shocks
_EVENLY = np.linspace(-1.0, 1.0, N)
_BY_YEAR = np.repeat(np.linspace(-1.0, 1.0, YEARS), N // YEARS)
_COUNTED, _WORDS = 600, 120  # documents and words of simulated counts


@dataclass(frozen=True)
class Sample:
    """Documents × words (n × p) and their times (n)."""

    X: Float64
    times: Float64

    def csr(self) -> Csr:
        """Return X as a sparse float32 matrix."""
        filled = self.X != 0
        indptr = np.concatenate([[0], np.cumsum(filled.sum(axis=1))]).astype(np.int64)
        indices = np.nonzero(filled)[1].astype(np.int32)
        return Csr(indptr, indices, self.X[filled].astype(np.float32), self.X.shape[1])


def static(rng: np.random.Generator) -> Sample:
    """Return documents without change."""
    A, B0 = _topics(rng)
    return Sample(A @ B0 + _noise(rng), _EVENLY)


def moving(rng: np.random.Generator, phi2: float, words: int = P) -> Sample:
    """Return documents in which the first `words` move; B₁ has variance ϕ² (Carrington §5.6)."""
    A, B0 = _topics(rng)
    B1 = np.zeros((TOPICS, P))
    B1[:, :words] = phi2**0.5 * rng.normal(size=(TOPICS, words))
    return Sample(A @ B0 + _EVENLY[:, None] * (A @ B1) + _noise(rng), _EVENLY)


def drifting_variance(rng: np.random.Generator) -> Sample:
    """Return documents in which the sd of two topics rises from .5 to 1.5, of the others falls."""
    A, B0 = _topics(rng)
    A *= 1.0 + 0.5 * _EVENLY[:, None] * np.array([1.0, 1.0, -1.0, -1.0])
    return Sample(A @ B0 + _noise(rng), _EVENLY)


def shocked_means(rng: np.random.Generator) -> Sample:
    """Return documents in which topics have random means in each year."""
    A, B0 = _topics(rng)
    return Sample((A + _of_years(rng.normal(size=(YEARS, TOPICS)))) @ B0 + _noise(rng), _BY_YEAR)


def shocked_variance(rng: np.random.Generator) -> Sample:
    """Return documents in which topics have random variances in each year."""
    A, B0 = _topics(rng)
    A *= _of_years(np.exp(0.5 * rng.normal(size=(YEARS, TOPICS))))
    return Sample(A @ B0 + _noise(rng), _BY_YEAR)


def shocked_words(rng: np.random.Generator) -> Sample:
    """Return documents in which words have random frequencies in each year."""
    A, B0 = _topics(rng)
    return Sample(A @ B0 + _of_years(0.5 * rng.normal(size=(YEARS, P))) + _noise(rng), _BY_YEAR)


def shocked_vectors(rng: np.random.Generator) -> Sample:
    """Return documents in which word vectors are perturbed at random in each year."""
    A, B0 = _topics(rng)
    years = A.reshape(YEARS, -1, TOPICS) @ (B0 + 0.2 * rng.normal(size=(YEARS, TOPICS, P)))
    return Sample(years.reshape(N, P) + _noise(rng), _BY_YEAR)


def counted(rng: np.random.Generator) -> Sample:
    """Return counts of four topics in documents of unequal length, with Zipfian frequencies."""
    base = (np.arange(_WORDS) + 1.0) ** -1.5 * np.exp(rng.normal(size=(TOPICS, _WORDS)))
    mixtures = rng.dirichlet(np.full(TOPICS, 0.5), _COUNTED)
    lengths = np.exp(rng.normal(5.5, 0.8, _COUNTED)).astype(int) + 20
    chances = mixtures @ (base / base.sum(axis=1, keepdims=True))
    rows = [rng.multinomial(m, p) / m for m, p in zip(lengths, chances, strict=True)]
    return Sample(np.array(rows), np.linspace(-1.0, 1.0, _COUNTED))


def _topics(rng: np.random.Generator) -> tuple[Float64, Float64]:
    return rng.normal(size=(N, TOPICS)), rng.normal(size=(TOPICS, P))


def _noise(rng: np.random.Generator) -> Float64:
    return rng.normal(size=(N, P))


def _of_years(values: Float64) -> Float64:
    return np.repeat(values, N // YEARS, axis=0)
