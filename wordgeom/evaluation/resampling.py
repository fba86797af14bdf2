"""95 % intervals of statistics of items, by resampling the items.

The bootstrap draws with replacement and takes percentiles. The jackknife leaves out each of 20
groups: θ ± 1.96 s, s² = (g − 1)/g Σ (θ₋ₖ − mean)². It serves measures that fit a model to the
items, because repeated items are fitted too well. If all resamples score the same (0 of 40 correct,
identical answers), the interval is undefined. Items that share word pairs: word_pairs.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np

from wordgeom.core.types import Float64, Int64

BOOTSTRAP, JACKKNIFE = "bootstrap", "jackknife"
MIN_ITEMS = 3  # for an interval
_PERCENT = (2.5, 97.5)
_NORMAL = 1.959963984540054  # the 97.5 % point of the normal distribution
_GROUPS = 20
_RELATIVE, _ABSOLUTE = 1e-12, 1e-14  # tolerances between equal scores


def interval(
    statistic: Callable[[Int64], float], n: int, resampling: str, resamples: int, seed: int
) -> tuple[float, float]:
    """Return the 95 % interval of a statistic of n items, (nan, nan) where undefined."""
    if n < MIN_ITEMS or not resamples:
        return np.nan, np.nan
    rng = np.random.default_rng(seed)
    if resampling != JACKKNIFE:
        return percentiles(statistic(rng.integers(0, n, n)) for _ in range(resamples))
    values = _defined(statistic(sample) for sample in _jackknife(n, rng))
    if not len(values):
        return np.nan, np.nan
    value, g = statistic(np.arange(n)), len(values)
    half = _NORMAL * float(np.sqrt((g - 1) / g * np.sum((values - values.mean()) ** 2)))
    return value - half, value + half


def percentiles(resampled: Iterable[float]) -> tuple[float, float]:
    """Return the 2.5 % and 97.5 % points of resampled scores, (nan, nan) if all are equal."""
    values = _defined(resampled)
    if not len(values):
        return np.nan, np.nan
    low, high = np.percentile(values, _PERCENT)
    return float(low), float(high)


def _defined(resampled: Iterable[float]) -> Float64:
    """Return the scores that are defined; none if fewer than two, or if all are equal."""
    values: Float64 = np.array(list(resampled), np.float64)
    values = values[np.isfinite(values)]
    if len(values) < 2 or np.allclose(values, values[0], _RELATIVE, _ABSOLUTE):
        return np.empty(0)
    return np.asarray(values)


def _jackknife(n: int, rng: np.random.Generator) -> Iterator[Int64]:
    order = rng.permutation(n)
    groups = min(_GROUPS, n)
    for k in range(groups):
        yield np.sort(np.delete(order, np.s_[k::groups]))
