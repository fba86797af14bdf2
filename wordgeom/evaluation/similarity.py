"""Word similarity: Spearman's and Pearson's correlation of cosines with human scores.

Computed as in gensim's `evaluate_word_pairs`: every line counts, also one that repeats a pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from wordgeom.core.formatting import listed, plural
from wordgeom.core.types import Array, Float64
from wordgeom.evaluation.answers import Answers, Measure
from wordgeom.evaluation.exclusions import exclude_missing, no_known_items
from wordgeom.evaluation.lines import SetFile
from wordgeom.evaluation.options import ZERO, EvalOptions
from wordgeom.evaluation.pairs import Pair, read_pair_list
from wordgeom.evaluation.tagged_words import match_tags
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

_MIN_PAIRS = 3  # for a correlation
_MISSING = "pairs with a word that has no vector"
_WITHOUT = "pairs with a word whose vector is zero or not finite"


@dataclass(frozen=True)
class Similarity(SetFile):
    """A set of word pairs; left_out: lines of the file that were not read, by reason."""

    pairs: tuple[Pair, ...]
    left_out: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def asked_words(self) -> Iterator[str]:
        """The words of the pairs."""
        return (word for pair in self.pairs for word in (pair.left, pair.right))

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Answer by cosines (n) float64; raises InputError if no pair is in the vocabulary."""
        lookup = Lookup(vectors, self.options)
        pairs, note = match_tags(self.pairs, lookup)
        notes = (*self.notes, note) if note else self.notes
        return replace(self, pairs=pairs, notes=notes)._answer(lookup, vectors)

    def _answer(self, lookup: Lookup, vectors: Vectors) -> Answers:
        cosines, missing = self._cosines(lookup)
        absent = np.isnan(cosines)
        if absent.all():
            pairs = plural(len(cosines), "pair")
            unread = len(vectors.words) - len(lookup.words)
            raise no_known_items(self.path, pairs, int(np.sum(~missing)), unread)
        excluded, notes = exclude_missing(
            {_MISSING: absent & missing, _WITHOUT: absent & ~missing},
            self.options.oov,
            "scored as cosine 0",
        )
        if self.options.oov == ZERO:
            cosines[absent] = 0
        excluded |= self.left_out
        items = np.flatnonzero(np.isfinite(cosines))
        given, gold = cosines[items], np.array([pair.score for pair in self.pairs])[items]
        notes = (*self.notes, *notes, *self._repeats(lookup), *_undefined(given, gold))
        return Answers("similarity", self.name, MEASURES, items, given, gold, excluded, notes=notes)

    def _cosines(self, lookup: Lookup) -> tuple[Float64, Array]:
        """Return the cosines (n), nan where undefined, and a mask of out-of-vocabulary pairs."""
        pairs = [(lookup.row(pair.left), lookup.row(pair.right)) for pair in self.pairs]
        missing = np.array([None in rows for rows in pairs])
        rows = np.array([rows for rows in pairs if None not in rows], np.int64).reshape(-1, 2)
        cosines = np.full(len(pairs), np.nan)
        cosines[~missing] = lookup.cosines(rows[:, 0], rows[:, 1])
        return cosines, missing

    def _repeats(self, lookup: Lookup) -> Iterator[str]:
        """Yield notes on pairs that the file has more than once, in either order."""
        rated: dict[tuple[str, ...], list[Pair]] = {}
        for pair in self.pairs:
            key = tuple(sorted((lookup.key(pair.left), lookup.key(pair.right))))
            rated.setdefault(key, []).append(pair)
        again = [same for same in rated.values() if len({p.score for p in same}) < len(same)]
        if again:
            lines = sum(len(same) - len({pair.score for pair in same}) for same in again)
            example = f"{again[0][0].left} {again[0][0].right}"
            yield f"pairs repeated with the same score, all used: {lines:,} (the first: {example})"
        several = [same for same in rated.values() if len({pair.score for pair in same}) > 1]
        if several:
            first = several[0][0]
            scores = listed([f"{score:g}" for score in sorted({p.score for p in several[0]})])
            example = f"{first.left} {first.right} with {scores}"
            yield f"pairs with several scores, all used: {len(several):,} (the first: {example})"


def read_similarity(path: str | Path, options: EvalOptions) -> Similarity:
    """Read a file of word pairs; raises what `read_pair_list` raises."""
    read = read_pair_list(path)
    return Similarity(str(path), options, read.pairs, read.excluded, read.notes)


def spearman(given: Float64, gold: Float64) -> float:
    """Return the correlation of ranks, averaged over ties; nan where `pearson` is."""
    return pearson(_ranks(given), _ranks(gold))


def pearson(given: Float64, gold: Float64) -> float:
    """Return the correlation of n numbers each, nan if n < 3 or if one side is constant."""
    if len(given) < _MIN_PAIRS:
        return np.nan
    given, gold = _scaled(given), _scaled(gold)
    if np.ptp(given) == 0 or np.ptp(gold) == 0:
        return np.nan
    a, b = ((side - side.mean()) / np.ptp(side) for side in (given, gold))
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))


def _scaled(values: Float64) -> Float64:
    """Return numbers times a power of two, of magnitude 1 at most: sums of them do not overflow."""
    return np.asarray(np.ldexp(values, -np.frexp(np.abs(values).max())[1]))


def _ranks(values: Float64) -> Float64:
    # Not SciPy's rankdata: importing it takes longer than an evaluation.
    _, indices, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[indices])


MEASURES = (Measure("spearman", spearman), Measure("pearson", pearson))


def _undefined(given: Float64, gold: Float64) -> Iterator[str]:
    """Yield a note if the correlation is undefined."""
    if len(given) < _MIN_PAIRS:
        yield f"no correlation: only {plural(len(given), 'pair')} can be scored"
    elif (given == given[0]).all() or (gold == gold[0]).all():
        side = "cosines" if (given == given[0]).all() else "scores"
        yield f"no correlation: all {side} are equal"
