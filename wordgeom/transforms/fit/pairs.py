"""Word pairs with scores, as far as a space has vectors for them."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.evaluation.exclusions import add_counts, with_exclusions
from wordgeom.evaluation.options import EvalOptions
from wordgeom.evaluation.pairs import Pair, read_pair_list
from wordgeom.evaluation.tagged_words import match_tags
from wordgeom.evaluation.word_lookup import Lookup
from wordgeom.transforms.fit.correlation import Judged
from wordgeom.transforms.space import Space
from wordgeom.vectors.keyed import Vectors

_LEAST = 3  # pairs of a correlation
_EVERY = EvalOptions(restrict_vocab=0)


@dataclass(frozen=True)
class PairFile:
    """The pairs of a file that have vectors, each once, and what was left out.

    rows (n × 2): of the words; scores (n): averaged where the file has a pair more than once.
    """

    path: Path
    rows: Int64
    scores: Float64
    facts: dict[str, Any]
    notes: list[str]

    def judged(self, space: Space, spread: Float64 | None = None) -> Judged:
        """Return the pairs with their images in a space, of unit length, and a given spread.

        Pairs with an image of zero are left out. Raises InputError for fewer than three others.
        """
        words, at = np.unique(self.rows, return_inverse=True)
        images = space.rows(words)
        lengths = np.sqrt(np.einsum("ij,ij->i", images, images))
        at = at.reshape(-1, 2)
        fine = lengths[at].all(axis=1)
        self._check(self.scores[fine])
        lengths[lengths == 0.0] = 1.0
        units = images / lengths[:, None]
        spread = np.eye(space.columns) if spread is None else spread
        return Judged(units, at[fine, 0], at[fine, 1], self.scores[fine], spread)

    @property
    def used(self) -> set[tuple[int, int]]:
        """The rows of the pairs, the lower first."""
        return {(int(left), int(right)) for left, right in self.rows}

    def _check(self, scores: Float64) -> None:
        usable = len(scores)
        if usable < _LEAST:
            left_out = {"pairs with a word without a vector": self.facts["missing"],
                        "pairs of a word with itself": self.facts["same_word"]}  # fmt: skip
            what = f"{_LEAST} pairs of different words with nonzero vectors are needed"
            found = with_exclusions(f"{usable} of {self.facts['read']:,}", add_counts(left_out))
            do = "add pairs, or check their language"
            raise InputError(what, where=self.path, found=found, do=do)
        if (scores == scores[0]).all():
            what = f"the scores of all {usable:,} usable pairs are {scores[0]:g}"
            raise InputError(what, where=self.path, do="pass pairs with different scores")


def read_pair_file(path: Path, vectors: Vectors) -> PairFile:
    """Read a file of pairs. Raises what `read_pair_list` raises, InputError for too few pairs."""
    read = read_pair_list(path)
    lookup = Lookup(vectors, _EVERY)
    pairs, tagged = match_tags(read.pairs, lookup)
    rated: dict[tuple[int, int], list[float]] = {}
    missing = same = 0
    for pair in pairs:
        left, right = lookup.row(pair.left), lookup.row(pair.right)
        if left is None or right is None:
            missing += 1
        elif left == right:
            same += 1
        else:
            rated.setdefault((min(left, right), max(left, right)), []).append(pair.score)
    repeated = sum(len(scores) - 1 for scores in rated.values())
    contradictory = sum(len(set(scores)) > 1 for scores in rated.values())
    facts = {"read": len(pairs), "pairs": len(rated), "missing": missing, "same_word": same,
             "repeated": repeated, "contradictory": contradictory}  # fmt: skip
    notes = [*read.notes, *([tagged] if tagged else []), *_left_out(facts)]
    notes += [f"left out: {number:,} ({reason})" for reason, number in read.excluded.items()]
    rows = np.array(list(rated), np.int64).reshape(-1, 2)
    scores = np.array([np.mean(same) for same in rated.values()])
    made = PairFile(path, rows, scores, facts, [f"{path}: {note}" for note in notes])
    made._check(scores)
    return made


def _left_out(facts: dict[str, Any]) -> list[str]:
    """Return notes on pairs that are not used as they stand."""
    notes = []
    if n := facts["missing"]:
        pairs = several(n, "pair has", "pairs have")
        notes.append(f"{pairs} a word without a vector and {'is' if n == 1 else 'are'} left out")
    if n := facts["same_word"]:
        notes.append(f"{several(n, 'pair', 'pairs')} of a word with itself left out")
    if n := facts["repeated"]:
        notes.append(f"{several(n, 'repeated pair', 'repeated pairs')}; scores of a pair averaged"
                     f" ({facts['contradictory']:,} with different scores)")  # fmt: skip
    return notes


def is_used(pairs: Sequence[Pair], lookup: Lookup, used: Collection[tuple[int, int]]) -> Array:
    """Return which pairs (n, bool) are those of `used` rows, the lower first, in either order."""
    rows = [(lookup.row(pair.left), lookup.row(pair.right)) for pair in pairs]
    known = [(-1, -1) if a is None or b is None else (min(a, b), max(a, b)) for a, b in rows]
    return np.array([pair in used for pair in known], bool)
