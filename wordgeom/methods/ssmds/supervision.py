"""The supervised pairs: word pairs of a file as rows of the matrix, each pair once.

Words are looked up as `eval` looks them up: as spelt or in NFC, without regard to case, and without
the parts of speech of the lemma form of MEN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural
from wordgeom.core.types import Float64, Int64

if TYPE_CHECKING:
    from wordgeom.evaluation.pairs import Pair

_LEAST = 3  # pairs, for a correlation


@dataclass(frozen=True)
class Supervision:
    """m distinct pairs of words.

    words (u): rows of the matrix, ascending; left, right (m): positions in `words`; scores (m);
    notes: on the pairs that are not used as they stand; counts: of these, for the run card.
    """

    words: Int64
    left: Int64
    right: Int64
    scores: Float64
    notes: tuple[str, ...]
    counts: dict[str, int]

    @property
    def rows(self) -> tuple[Int64, Int64]:
        """The two rows (m) of each pair."""
        return self.words[self.left], self.words[self.right]


def supervise(pairs: Sequence[Pair], words: Sequence[str]) -> Supervision:
    """Return the pairs of words that are among `words`; duplicates are averaged.

    Raises InputError for fewer than 3 pairs, and for constant scores.
    """
    rows, note, outside = _rows(pairs, words)
    same = sum(left == right for left, right, _ in rows)
    scores: dict[tuple[int, int], list[float]] = {}
    for left, right, score in rows:
        if left != right:
            scores.setdefault((min(left, right), max(left, right)), []).append(score)
    repeated = sum(len(given) > 1 for given in scores.values())
    differing = sum(len(set(given)) > 1 for given in scores.values())
    _check(len(pairs), scores, outside, same)
    used = np.array(list(scores), np.int64)
    distinct, places = np.unique(used, return_inverse=True)
    ends = places.reshape(-1, 2)
    counts = {
        "pairs": len(used), "pairs_outside": outside, "pairs_of_one_word": same,
        "pairs_repeated": repeated, "pairs_contradictory": differing,
    }  # fmt: skip
    means = np.array([np.mean(given) for given in scores.values()])
    notes = (*([note] if note else []), *_notes(counts))
    return Supervision(distinct, ends[:, 0], ends[:, 1], means, notes, counts)


def _rows(
    pairs: Sequence[Pair], words: Sequence[str]
) -> tuple[list[tuple[int, int, float]], str, int]:
    """Return rows and score of each known pair, a note on tags, and the number of others."""
    from wordgeom.evaluation.options import EvalOptions
    from wordgeom.evaluation.tagged_words import match_tags
    from wordgeom.evaluation.word_lookup import Lookup
    from wordgeom.vectors.keyed import Vectors

    without = Vectors(list(words), np.empty((len(words), 0), np.float32))
    lookup = Lookup(without, EvalOptions(), restrict=False)
    spelt, note = match_tags(pairs, lookup) if pairs else ((), "")
    found = [(lookup.row(pair.left), lookup.row(pair.right), pair.score) for pair in spelt]
    known = [(a, b, score) for a, b, score in found if a is not None and b is not None]
    return known, note, len(found) - len(known)


def _check(given: int, scores: dict[tuple[int, int], list[float]], outside: int, same: int) -> None:
    from wordgeom.evaluation.exclusions import add_counts, with_exclusions

    if len(scores) < _LEAST:
        left_out = {"pairs with a word that is not in the matrix": outside,
                    "pairs of a word with itself": same}  # fmt: skip
        what = f"--pairs needs {_LEAST} pairs of different words of the matrix"
        found = with_exclusions(f"{len(scores)} of {given:,}", add_counts(left_out))
        raise InputError(what, found=found, do="add pairs, or check their language")
    means = {float(np.mean(score)) for score in scores.values()}
    if len(means) == 1:
        what = f"all {len(scores):,} usable pairs of --pairs have the score {means.pop():g}"
        raise InputError(what, do="supply scores that differ")


def _notes(counts: dict[str, int]) -> list[str]:
    """Return notes on the pairs that are left out or averaged."""
    said = [
        ("pairs_outside", "with a word that is not in the matrix: left out"),
        ("pairs_of_one_word", "of a word with itself: left out"),
        ("pairs_contradictory", "with several scores: averaged"),
    ]
    return [f"{plural(counts[name], 'pair')} {text}" for name, text in said if counts[name]]
