"""Intervals of analogy accuracy: a bootstrap of the word pairs that the questions are made of.

A set asks a : b :: c : d for many combinations of few pairs a : b, so questions that share a pair
are right or wrong together, and resampling questions gives intervals that are too narrow. Distinct
pairs are drawn with replacement, and a question weighs the product of the multiplicities of its two
pairs (Owen 2007, "The pigeonhole bootstrap"). docs/design/evaluation.md gives the properties.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Float64, Int64
from wordgeom.evaluation.resampling import MIN_ITEMS, percentiles

_MIN_PAIRS = 10  # of a section whose share in the score is held; smaller ones form one section


@dataclass(frozen=True)
class WordPairs:
    """The two word pairs (n × 2) int64 and the section (n) int64 of each of n questions."""

    pairs: Int64
    sections: Int64

    @classmethod
    def of(cls, questions: Sequence[Sequence[str]], sections: Sequence[str]) -> WordPairs:
        """Number the pairs of questions a, b, c, d; a pair and its reverse are one."""
        pairs = [tuple(sorted(pair)) for words in questions for pair in (words[:2], words[2:])]
        return cls(_numbered(pairs).reshape(-1, 2), _numbered(sections))

    def at(self, positions: Int64) -> WordPairs:
        """Return the pairs of the questions at `positions`."""
        return WordPairs(self.pairs[positions], self.sections[positions])

    def interval(self, values: Float64, resamples: int, seed: int) -> tuple[float, float]:
        """Return the 95 % interval of the mean of values (n), (nan, nan) where undefined."""
        if len(values) < MIN_ITEMS or not resamples:
            return np.nan, np.nan
        return percentiles(self.resampled(values, resamples, np.random.default_rng(seed)))

    def resampled(
        self, values: Float64, resamples: int, rng: np.random.Generator
    ) -> Iterator[float]:
        """Yield means of values over resampled pairs, sections weighted as in the set.

        A section without a resampled question is left out; nan if all are.
        """
        units, number = self._units()
        sections = self._large_sections(units)
        sizes = np.bincount(sections)
        for _ in range(resamples):
            drawn = np.bincount(rng.integers(0, number, number), minlength=number + 1)
            drawn[number] = 1
            weights = (drawn[units[:, 0]] * drawn[units[:, 1]]).astype(np.float64)
            total = np.bincount(sections, weights, len(sizes))
            share = np.divide(sizes, total, out=np.zeros(len(sizes)), where=total > 0)
            used = sizes[total > 0].sum()
            score = share @ np.bincount(sections, weights * values, len(sizes))
            yield float(score / used) if used else np.nan

    def _units(self) -> tuple[Int64, int]:
        """Return what is drawn for each question (n × 2), and the number of units.

        Where no other question has either pair, or both pairs are the same, the question is drawn
        as one: its second unit is a constant, numbered last.
        """
        distinct, units = np.unique(self.pairs, return_inverse=True)
        units = units.reshape(-1, 2)
        questions = np.bincount(units.ravel())
        alone = (questions[units] == 1).all(axis=1) | (units[:, 0] == units[:, 1])
        units[alone, 1] = len(distinct)
        kept, units = np.unique(np.append(units, len(distinct)), return_inverse=True)
        return units[:-1].reshape(-1, 2), len(kept) - 1

    def _large_sections(self, units: Int64) -> Int64:
        """Return section numbers (n); sections of fewer than 10 units share the last number."""
        _, sections = np.unique(self.sections, return_inverse=True)
        owners = np.unique(np.stack([np.repeat(sections, 2), units.ravel()], 1), axis=0)[:, 0]
        small = np.bincount(owners) < _MIN_PAIRS
        return np.where(small[sections], len(small), sections)


def _numbered(keys: Sequence[Hashable]) -> Int64:
    """Return the number (n) of each key, equal for equal keys."""
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
