"""What of the data, besides the meaning of words, depends on time: lengths and topic frequencies.

Permutation tests count these as change, the score test does not. The figures are printed with each
test, and warn where its assumption fails.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np

from wordgeom.core.types import Array, Float64, Int64

_CORRELATION, _SHARE = 0.1, 0.1  # from which permutation tests reject visibly too often


@dataclass(frozen=True)
class Diagnostics:
    """How lengths and topics depend on time; NaN where a figure is undefined.

    length_correlation: of time and log length, over documents; autocorrelation: of the topics'
    yearly frequencies, lag 1, averaged by variance; trend: share of their variance that a line
    explains.
    """

    length_correlation: float
    autocorrelation: float
    trend: float

    def __str__(self) -> str:
        lengths = _figure(self.length_correlation)
        topics = f"lag-1 autocorrelation {_figure(self.autocorrelation)}"
        topics += f", share of a linear trend {_figure(self.trend)}"
        return f"correlation of time and log length {lengths}; topic frequencies: {topics}"

    def warning(self) -> str | None:
        """Return why permutations of times reject too often on these data, or None."""
        found = []
        if abs(self.length_correlation) > _CORRELATION:
            found.append("the lengths of documents")
        if self.autocorrelation > _SHARE or self.trend > 2.0 * _SHARE:
            found.append("the frequencies of topics")
        if not found:
            return None
        what = f"{' and '.join(found)} depend on time"
        return f"{what}: permutations reject too often; use --test flips"


def diagnose(times: Float64, lengths: Float64, topics: Float64, units: Int64) -> Diagnostics:
    """Return the diagnostics of passages with times, lengths, documents (n) and topics (n × r)."""
    _, first, unit = np.unique(units, return_index=True, return_inverse=True)
    between = _correlation(times[first], np.log(np.bincount(unit, lengths)))
    distinct, codes = np.unique(times, return_inverse=True)
    sizes = np.bincount(codes)
    means = np.stack([np.bincount(codes, column) for column in topics.T], axis=1) / sizes[:, None]
    means = means - means.mean(axis=0)
    total = float(np.sum(means**2))
    if len(distinct) < 3 or not total > 0.0:
        return Diagnostics(between, nan, nan)
    line = (distinct - distinct.mean()) / np.linalg.norm(distinct - distinct.mean())
    return Diagnostics(
        between,
        float(np.sum(means[1:] * means[:-1])) / total,
        float(np.sum((line @ means) ** 2)) / total,
    )


def _correlation(a: Array, b: Array) -> float:
    """Return the correlation of two arrays (n), NaN if one is constant."""
    if np.ptp(a) <= 0.0 or np.ptp(b) <= 1e-12 * max(1.0, float(np.abs(b).max())):
        return nan
    return float(np.corrcoef(a, b)[0, 1])


def _figure(value: float) -> str:
    return "undefined" if np.isnan(value) else f"{value:.2f}"
