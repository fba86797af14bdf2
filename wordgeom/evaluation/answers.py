"""Answers of vectors to the items of an evaluation set, and scores with 95 % intervals.

A score is a function of items, so resampling the items gives the interval of a score and, with the
same items on both sides, of a difference (resampling.py). Items that share word pairs are resampled
by pair (word_pairs.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.resampling import BOOTSTRAP, interval
from wordgeom.evaluation.word_pairs import WordPairs
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors


@dataclass(frozen=True)
class Measure:
    """A performance measure: `of(given, gold)` returns a float, nan where undefined.

    each: returns the values (n) of the items where the measure is their mean; answers with word
    pairs need it; most: the largest value, which no interval of a score exceeds; columns:
    of `given` that `of` takes, None for all.
    """

    name: str
    of: Callable[[Array, Array], float]
    resampling: str = BOOTSTRAP
    each: Callable[[Array, Array], Float64] | None = None
    most: float = np.inf
    columns: slice | None = None


@dataclass(frozen=True)
class Answers:
    """The answers of vectors to one evaluation set.

    items (n) int64, ascending: indices of the answered items in the set, which pair the answers of
    two models. given, gold (n, …): answers and reference answers. excluded: number of items left
    out, by reason; groups: positions in `items` of named parts, such as the sections of an analogy
    set; pairs: the word pairs of the items, where items share them. The first measure is the main
    one.
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
    pairs: WordPairs | None = None

    @property
    def total(self) -> int:
        """The number of items in the set."""
        return len(self.items) + sum(self.excluded.values())

    def score(self, measure: Measure, positions: Int64 | None = None) -> float:
        """Return a measure over all items, or over those at `positions` in `items`."""
        given = self.given if measure.columns is None else self.given[:, measure.columns]
        if positions is None:
            return measure.of(given, self.gold)
        return measure.of(given[positions], self.gold[positions])

    def each(self, measure: Measure, positions: Int64) -> Float64:
        """Return the values of the items at `positions`, of a measure that is their mean."""
        assert measure.each is not None
        return measure.each(self.given[positions], self.gold[positions])

    def only(self, items: Int64) -> Answers:
        """Return the answers to some items, as those of a set of these alone; items: ascending."""
        kept = np.flatnonzero(np.isin(self.items, items))
        places = np.full(len(self.items), -1)
        places[kept] = np.arange(len(kept))
        groups = {name: places[own][places[own] >= 0] for name, own in self.groups.items()}
        groups = {name: own for name, own in groups.items() if len(own)}
        pairs = None if self.pairs is None else self.pairs.at(kept)
        given, gold = self.given[kept], self.gold[kept]
        return replace(
            self, items=self.items[kept], given=given, gold=gold, groups=groups, pairs=pairs,
            excluded={}, notes=(),
        )  # fmt: skip

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

    if first.pairs is None:
        low, high = interval(statistic, len(common), measure.resampling, resamples, seed)
    else:
        values = second.each(measure, b) - first.each(measure, a)
        low, high = first.pairs.at(a).interval(values, resamples, seed)
    value = statistic(np.arange(len(common)))
    return Score(first.task, first.name, measure.name, value, low, high, len(common), first.total)


def _score(
    answers: Answers, measure: Measure, positions: Int64, total: int, resamples: int, seed: int
) -> Score:
    value, n = answers.score(measure, positions), len(positions)
    if answers.pairs is None:
        low, high = interval(
            lambda sample: answers.score(measure, positions[sample]),
            n, measure.resampling, resamples, seed,
        )  # fmt: skip
    else:
        values = answers.each(measure, positions)
        low, high = answers.pairs.at(positions).interval(values, resamples, seed)
    high = high if np.isnan(high) else min(high, measure.most)
    return Score(answers.task, answers.name, measure.name, value, low, high, n, total)
