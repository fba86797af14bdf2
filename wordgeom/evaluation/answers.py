"""Answers of vectors to the items of an evaluation set, and scores with 95 % intervals.

A score is a function of items, so resampling the items gives the interval of a score and, with the
same items on both sides, of a difference. The bootstrap draws with replacement and takes
percentiles. The jackknife leaves out each of 20 groups: θ ± 1.96 s, s² = (g − 1)/g Σ (θ₋ₖ − mean)².
It serves measures that fit a model to the items, because repeated items are fitted too well. If all
resamples score the same (0 of 40 correct, identical answers), the interval is undefined.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from wordgeom.core.types import Array, Int64
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

BOOTSTRAP, JACKKNIFE = "bootstrap", "jackknife"
_PERCENT = (2.5, 97.5)
_NORMAL = 1.959963984540054  # the 97.5 % point of the normal distribution
_GROUPS = 20
_MIN_ITEMS = 3  # for an interval
_RELATIVE, _ABSOLUTE = 1e-12, 1e-14  # tolerances between equal scores


@dataclass(frozen=True)
class Measure:
    """A performance measure: `of(given, gold)` returns a float, nan where undefined."""

    name: str
    of: Callable[[Array, Array], float]
    resampling: str = BOOTSTRAP


@dataclass(frozen=True)
class Answers:
    """The answers of vectors to one evaluation set.

    items (n) int64, ascending: indices of the answered items in the set, which pair the answers of
    two models. given, gold (n, …): answers and reference answers. excluded: number of items left
    out, by reason; groups: positions in `items` of named parts, such as the sections of an analogy
    set. The first measure is the main one.
    """

    task: str
    name: str
    measures: tuple[Measure, ...]
    items: Int64
    given: Array
    gold: Array
    excluded: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, Int64] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def total(self) -> int:
        """The number of items in the set."""
        return len(self.items) + sum(self.excluded.values())

    def score(self, measure: Measure, positions: Int64 | None = None) -> float:
        """Return a measure over all items, or over those at `positions` in `items`."""
        if positions is None:
            return measure.of(self.given, self.gold)
        return measure.of(self.given[positions], self.gold[positions])

    def at(self, items: Int64) -> Int64:
        """Return the positions in `items` of items that were answered."""
        return np.searchsorted(self.items, items)


@dataclass(frozen=True)
class Score:
    """A measure's value, its 95 % interval (nan where undefined) and its number of items."""

    task: str
    name: str
    measure: str
    value: float
    low: float
    high: float
    used: int
    total: int


class Task(Protocol):
    """An evaluation set."""

    @property
    def name(self) -> str:
        """The name of the set: its file name without suffixes."""

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Answer the items by vectors; raises InputError if no item can be answered."""


def scores(answers: Answers, resamples: int, seed: int) -> list[Score]:
    """Return the score of each measure over all items."""
    every, total = np.arange(len(answers.items)), answers.total
    return [_score(answers, m, every, total, resamples, seed) for m in answers.measures]


def group_scores(answers: Answers, resamples: int, seed: int) -> dict[str, list[Score]]:
    """Return the score of each measure, by group."""
    return {
        group: [
            _score(answers, m, positions, len(positions), resamples, seed) for m in answers.measures
        ]
        for group, positions in answers.groups.items()
    }


def difference(
    first: Answers, second: Answers, measure: Measure, resamples: int, seed: int
) -> Score:
    """Return second − first over the items that both answered, with a paired interval.

    Both must answer the same set.
    """
    common = np.intersect1d(first.items, second.items)
    a, b = first.at(common), second.at(common)

    def statistic(sample: Int64) -> float:
        return second.score(measure, b[sample]) - first.score(measure, a[sample])

    low, high = _interval(statistic, len(common), measure.resampling, resamples, seed)
    value = statistic(np.arange(len(common)))
    return Score(first.task, first.name, measure.name, value, low, high, len(common), first.total)


def _score(
    answers: Answers, measure: Measure, positions: Int64, total: int, resamples: int, seed: int
) -> Score:
    value, n = answers.score(measure, positions), len(positions)
    low, high = _interval(
        lambda sample: answers.score(measure, positions[sample]),
        n, measure.resampling, resamples, seed,
    )  # fmt: skip
    return Score(answers.task, answers.name, measure.name, value, low, high, n, total)


def _interval(
    statistic: Callable[[Int64], float], n: int, resampling: str, resamples: int, seed: int
) -> tuple[float, float]:
    """Return the 95 % interval of a statistic of n items, (nan, nan) where undefined."""
    if n < _MIN_ITEMS or not resamples:
        return np.nan, np.nan
    rng = np.random.default_rng(seed)
    samples = _jackknife(n, rng) if resampling == JACKKNIFE else _bootstrap(n, resamples, rng)
    values = np.array([statistic(sample) for sample in samples])
    values = values[np.isfinite(values)]
    if len(values) < 2 or np.allclose(values, values[0], _RELATIVE, _ABSOLUTE):
        return np.nan, np.nan
    if resampling != JACKKNIFE:
        low, high = np.percentile(values, _PERCENT)
        return float(low), float(high)
    value, g = statistic(np.arange(n)), len(values)
    half = _NORMAL * float(np.sqrt((g - 1) / g * np.sum((values - values.mean()) ** 2)))
    return value - half, value + half


def _bootstrap(n: int, resamples: int, rng: np.random.Generator) -> Iterator[Int64]:
    for _ in range(resamples):
        yield rng.integers(0, n, n)


def _jackknife(n: int, rng: np.random.Generator) -> Iterator[Int64]:
    order = rng.permutation(n)
    groups = min(_GROUPS, n)
    for k in range(groups):
        yield np.sort(np.delete(order, np.s_[k::groups]))
