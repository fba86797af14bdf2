"""Word similarity: do cosines rank pairs of words as people do?

Spearman's and Pearson's correlation of cosines with the scores that people gave, as gensim's
`evaluate_word_pairs` has them. Pairs that stand in a file again with another score are kept, as
there; repeats with the same score would count one judgement twice and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Array, Float64
from wordgeom.evaluation.answers import Answers, Measure
from wordgeom.evaluation.lines import set_name
from wordgeom.evaluation.missing_words import exclude_missing
from wordgeom.evaluation.options import ZERO, EvalOptions
from wordgeom.evaluation.pairs import Pair, read_pairs
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.runtime.context import Context
from wordgeom.vectors.keyed import Vectors

_FEWEST = 3  # pairs that a correlation says anything of
_MISSING = "pairs with a word that has no vector"
_WITHOUT = "pairs with a word whose vector is zero"
_REPEATED = "pairs that the file holds again with the same score"


@dataclass(frozen=True)
class Similarity:
    """A set of pairs."""

    name: str
    path: str
    pairs: tuple[Pair, ...]
    options: EvalOptions

    def answer(self, vectors: Vectors, context: Context) -> Answers:
        """Let cosines answer, float64; raises InputError where no pair is in the vocabulary."""
        lookup = Lookup(vectors, self.options)
        repeated, contradictions = self._repeats(lookup)
        cosines, missing = self._cosines(lookup)
        absent = np.isnan(cosines) & ~repeated
        if (absent | repeated).all():
            raise _none_known(self.path, len(cosines))
        excluded, notes = exclude_missing(
            {_MISSING: absent & missing, _WITHOUT: absent & ~missing},
            self.options.oov,
            "taken as cosine 0",
        )
        if self.options.oov == ZERO:
            cosines[absent] = 0
        if repeated.any():
            excluded[_REPEATED] = int(repeated.sum())
        items = np.flatnonzero(~repeated & np.isfinite(cosines))
        given, gold = cosines[items], np.array([pair.score for pair in self.pairs])[items]
        notes = tuple(note for note in (*notes, contradictions, _undefined(given, gold)) if note)
        return Answers("similarity", self.name, MEASURES, items, given, gold, len(cosines),
                       excluded, notes=notes)  # fmt: skip

    def _cosines(self, lookup: Lookup) -> tuple[Float64, Array]:
        """Return cosines (n), nan where there is none, and where a word is missing (n, bool)."""
        found = [(lookup.row(pair.left), lookup.row(pair.right)) for pair in self.pairs]
        missing = np.array([None in rows for rows in found])
        rows = np.array([rows for rows in found if None not in rows], np.int64).reshape(-1, 2)
        cosines = np.full(len(found), np.nan)
        cosines[~missing] = lookup.cosines(rows[:, 0], rows[:, 1])
        return cosines, missing

    def _repeats(self, lookup: Lookup) -> tuple[Array, str]:
        """Return which pairs (n, bool) repeat an earlier one, and a note of those that disagree."""
        judged: dict[tuple[str, ...], list[Pair]] = {}
        repeated = []
        for pair in self.pairs:
            key = tuple(sorted((lookup.key(pair.left), lookup.key(pair.right))))
            earlier = judged.setdefault(key, [])
            repeated.append(any(pair.score == other.score for other in earlier))
            earlier.append(pair)
        return np.array(repeated), _contradictions(judged.values())


def read_similarity(path: str | Path, options: EvalOptions) -> Similarity:
    """Read a file of pairs; raises what `read_pairs` raises."""
    return Similarity(set_name(path), str(path), tuple(read_pairs(path)), options)


def spearman(given: Float64, gold: Float64) -> float:
    """Return the correlation of ranks, equals sharing theirs; nan where `pearson` has none."""
    return pearson(_ranks(given), _ranks(gold))


def pearson(given: Float64, gold: Float64) -> float:
    """Return the correlation (n numbers each), nan for fewer than 3 or if one side is constant."""
    if len(given) < _FEWEST or np.ptp(given) == 0 or np.ptp(gold) == 0:
        return np.nan
    # Scaled first: squares of very large or very small scores would overflow or vanish.
    a, b = ((side - side.mean()) / np.ptp(side) for side in (given, gold))
    return float(np.clip(a @ b / np.sqrt((a @ a) * (b @ b)), -1, 1))


def _ranks(values: Float64) -> Float64:
    # SciPy's rankdata does as much; to import it takes longer than an evaluation.
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[places])


MEASURES = (Measure("spearman", spearman), Measure("pearson", pearson))


def _contradictions(judged: Iterable[Sequence[Pair]]) -> str:
    """Return a note of the pairs that stand in a file with several scores, "" without any."""
    several = [same for same in judged if len({pair.score for pair in same}) > 1]
    if not several:
        return ""
    first = several[0][0]
    said = " and ".join(f"{score:g}" for score in sorted({pair.score for pair in several[0]}))
    example = f"{first.left} {first.right} with {said}"
    return f"pairs with several scores, all kept: {len(several):,}, the first {example}"


def _undefined(given: Float64, gold: Float64) -> str:
    if len(given) < _FEWEST:
        return f"no correlation: only {len(given)} of the pairs can be judged"
    if np.ptp(given) == 0 or np.ptp(gold) == 0:
        side = "cosines" if np.ptp(given) == 0 else "scores"
        return f"no correlation: all {side} are the same"
    return ""


def _none_known(path: str, total: int) -> InputError:
    do = "check the language and the case of its words, or try --restrict-vocab 0"
    return InputError(f"not one of {total:,} pairs has vectors for its words", where=path, do=do)
