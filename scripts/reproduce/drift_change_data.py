"""Counts of words whose meaning does not change, in documents like real ones: drift_change.py.

Documents are mixtures of topics; a word's share of a topic never changes. Lengths, the frequencies
of topics and the frequency of every tenth word may.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Csr, Float64, Int64

YEARS, WORDS, TOPICS = 50, 200, 20
_CONCENTRATION = 0.5  # of a document's topics: few topics a document
_EVERY = 10  # one word of ten changes its frequency


@dataclass(frozen=True)
class Texts:
    """Counts (n × p) of passages with a year and a document (n)."""

    X: Csr
    years: Int64
    units: Int64


@dataclass(frozen=True)
class Situation:
    """What depends on time in a text in which no meaning changes.

    spread: standard deviation of log length; longer: factor by which length grows over the years;
    ar: autocorrelation of yearly topic frequencies, 0 for none; frequency: factor by which every
    tenth word becomes more frequent, evenly or, if `sudden`, at once.
    """

    name: str
    spread: float = 0.8
    longer: float = 1.0
    ar: float = 0.0
    frequency: float = 1.0
    sudden: bool = False


SITUATIONS = (
    Situation("equal lengths, nothing depends on time", spread=0.0),
    Situation("a: unequal lengths"),
    Situation("b: lengths grow ×4", longer=4.0),
    Situation("c: AR(1) topic frequencies, ρ = .8", ar=0.8),
    Situation("d: every tenth word ×8", frequency=8.0),
    Situation("d: every tenth word ×8 at once", frequency=8.0, sudden=True),
    Situation("a to d together", longer=4.0, ar=0.8, frequency=8.0),
)


def static_texts(rng: np.random.Generator, situation: Situation, documents: int) -> Texts:
    """Return documents of a situation, as many in each year."""
    years = np.repeat(np.arange(YEARS), documents // YEARS)
    t = np.linspace(-1.0, 1.0, YEARS)
    share = (np.arange(WORDS) + 1.0) ** -1.0 * np.exp(rng.normal(size=(TOPICS, WORDS)))
    share /= share.sum(axis=1, keepdims=True)
    alpha = _CONCENTRATION * TOPICS * _topic_frequencies(rng, situation.ar)
    mixtures = np.array([rng.dirichlet(np.maximum(alpha[year], 1e-3)) for year in years])
    lengths = np.exp(rng.normal(5.0, situation.spread, len(years)))
    lengths = (lengths * situation.longer ** (0.5 * t[years])).astype(int) + 10
    means = mixtures @ share * _frequency(situation, t)[years]
    means /= means.sum(axis=1, keepdims=True)
    counts = np.array([rng.multinomial(m, p) for m, p in zip(lengths, means, strict=True)])
    return Texts(sparse(counts), years, np.arange(len(years)))


def sparse(counts: Int64) -> Csr:
    """Return counts (n × p) as a sparse float32 matrix."""
    rows, columns = np.nonzero(counts)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(counts)))])
    values = counts[rows, columns].astype(np.float32)
    return Csr(indptr.astype(np.int64), columns.astype(np.int32), values, counts.shape[1])


def _topic_frequencies(rng: np.random.Generator, ar: float) -> Float64:
    """Return the expected frequencies (YEARS × TOPICS) of topics, with rows that add up to 1."""
    if not ar:
        return np.full((YEARS, TOPICS), 1.0 / TOPICS)
    logs = np.empty((YEARS, TOPICS))
    logs[0] = rng.normal(size=TOPICS)
    for year in range(1, YEARS):
        logs[year] = ar * logs[year - 1] + np.sqrt(1.0 - ar**2) * rng.normal(size=TOPICS)
    frequencies = np.exp(logs)
    return np.asarray(frequencies / frequencies.sum(axis=1, keepdims=True))


def _frequency(situation: Situation, t: Float64) -> Float64:
    """Return the factor (YEARS × WORDS) of each word's frequency."""
    factor = np.ones((YEARS, WORDS))
    profile = situation.frequency ** (0.5 * np.sign(t - 0.2) if situation.sudden else 0.5 * t)
    factor[:, ::_EVERY] = profile[:, None]
    return factor


def changed_frequency() -> Array:
    """Return the mask (WORDS) of words whose frequency may change."""
    return np.arange(WORDS) % _EVERY == 0
