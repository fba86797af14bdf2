"""What vectors answered to a set's items, and scores of it with 95 % intervals.

A score is a function of items, so that one rule gives its interval and the interval of a
difference: draw items anew, the same ones for both. Bootstrap: with replacement, percentiles.
Jackknife: leave out each of 20 groups, θ ± 1.96 s with s² = (g − 1)/g Σ (θ₋ₖ − mean)²; for
figures that fit something to the items, which would fit repeated items too well. Draws that all
give the same figure (0 of 40, no difference at all) say nothing of how far off it may be: then
there is no interval.
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
_FEWEST = 3  # items that an interval is worth drawing for
_ROUNDING, _ROUNDING_OF_0 = 1e-12, 1e-14  # relative and absolute, between figures that are the same


@dataclass(frozen=True)
class Measure:
    """A figure of merit: `of(given, gold)` → float, nan where it is not defined."""

    name: str
    of: Callable[[Array, Array], float]
    resampling: str = BOOTSTRAP


@dataclass(frozen=True)
class Answers:
    """What vectors answered to one set.

    items (n): numbers in the set of the items that were answered, ascending; answers of two
    files of vectors are paired by them. given, gold (n, …): what was answered and what is right.
    total: items of the set; excluded: how many were left out, by reason; groups: positions in
    `items` of named parts, such as an analogy set's sections. The first measure is the main one.
    """

    task: str
    name: str
    measures: tuple[Measure, ...]
    items: Int64
    given: Array
    gold: Array
    total: int
    excluded: Mapping[str, int] = field(default_factory=dict)
    groups: Mapping[str, Int64] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def score(self, measure: Measure, positions: Int64 | None = None) -> float:
        """Return a figure of all items, or of those at some positions in `items`."""
        if positions is None:
            return measure.of(self.given, self.gold)
        return measure.of(self.given[positions], self.gold[positions])

    def at(self, items: Int64) -> Int64:
        """Return the positions of items that are among the answered ones."""
        return np.searchsorted(self.items, items)


@dataclass(frozen=True)
class Score:
    """A figure with its 95 % interval (nan where there is none) and the items it stands on."""

    task: str
    name: str
    measure: str
    value: float
    low: float
    high: float
    used: int
    total: int


class Task(Protocol):
    """A set that vectors are judged by."""

    @property
    def name(self) -> str:
        """What the set is called: its file's name without suffixes."""

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Let vectors answer; raises InputError where not one item can be answered."""


def scores(answers: Answers, resamples: int, seed: int) -> list[Score]:
    """Return the score of each measure over all items."""
    every, total = np.arange(len(answers.items)), answers.total
    return [_score(answers, m, every, total, resamples, seed) for m in answers.measures]


def group_scores(answers: Answers, resamples: int, seed: int) -> dict[str, list[Score]]:
    """Return, for each group, the score of each measure."""
    return {
        group: [
            _score(answers, measure, chosen, len(chosen), resamples, seed)
            for measure in answers.measures
        ]
        for group, chosen in answers.groups.items()
    }


def difference(
    first: Answers, second: Answers, measure: Measure, resamples: int, seed: int
) -> Score:
    """Return second − first on the items that both answered, with its paired interval.

    Both must be answers to the same set.
    """
    common = np.intersect1d(first.items, second.items)
    a, b = first.at(common), second.at(common)

    def figure(chosen: Int64) -> float:
        return second.score(measure, b[chosen]) - first.score(measure, a[chosen])

    low, high = _interval(figure, len(common), measure.resampling, resamples, seed)
    value = figure(np.arange(len(common)))
    return Score(first.task, first.name, measure.name, value, low, high, len(common), first.total)


def _score(
    answers: Answers, measure: Measure, chosen: Int64, total: int, resamples: int, seed: int
) -> Score:
    value = answers.score(measure, chosen)
    low, high = _interval(
        lambda drawn: answers.score(measure, chosen[drawn]),
        len(chosen), measure.resampling, resamples, seed,
    )  # fmt: skip
    return Score(answers.task, answers.name, measure.name, value, low, high, len(chosen), total)


def _interval(
    figure: Callable[[Int64], float], n: int, resampling: str, resamples: int, seed: int
) -> tuple[float, float]:
    """Return the 95 % interval of a figure of n items, (nan, nan) where it cannot be had."""
    if n < _FEWEST or not resamples:
        return np.nan, np.nan
    rng = np.random.default_rng(seed)
    draws = _left_out(n, rng) if resampling == JACKKNIFE else _redrawn(n, resamples, rng)
    figures = np.array([figure(drawn) for drawn in draws])
    figures = figures[np.isfinite(figures)]
    if len(figures) < 2 or np.allclose(figures, figures[0], _ROUNDING, _ROUNDING_OF_0):
        return np.nan, np.nan
    if resampling != JACKKNIFE:
        low, high = np.percentile(figures, _PERCENT)
        return float(low), float(high)
    value, g = figure(np.arange(n)), len(figures)
    half = _NORMAL * float(np.sqrt((g - 1) / g * np.sum((figures - figures.mean()) ** 2)))
    return value - half, value + half


def _redrawn(n: int, resamples: int, rng: np.random.Generator) -> Iterator[Int64]:
    for _ in range(resamples):
        yield rng.integers(0, n, n)


def _left_out(n: int, rng: np.random.Generator) -> Iterator[Int64]:
    order = rng.permutation(n)
    groups = min(_GROUPS, n)
    for k in range(groups):
        yield np.sort(np.delete(order, np.s_[k::groups]))
