"""Look up words by spelling, with or without case folding, and normalise their vectors.

Words without a usable vector are left out of a set, each for a reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from wordgeom.core.types import Array, Float32, Float64, Int32, Int64
from wordgeom.evaluation.options import FOLD, EvalOptions
from wordgeom.vectors.keyed import Vectors, row_in

MISSING = "words without a vector"
ZERO = "words whose vector is zero or not finite"
SAME = "words that differ from an earlier one in case or Unicode form only"
_ROWS = 4096  # of a block


class Lookup:
    """The first V' words of a vectors file.

    restrict: whether --restrict-vocab applies, as it does to pairs and analogies but not to texts.
    Among words equal up to case, the earliest in the file is used, as in gensim.
    """

    def __init__(self, vectors: Vectors, options: EvalOptions, *, restrict: bool = True) -> None:
        limit = options.restrict_vocab if restrict else 0
        self.words = vectors.words[:limit] if limit else vectors.words
        self.matrix: Float32 = vectors.matrix[: len(self.words)]
        self._fold = options.case == FOLD

    def key(self, word: str) -> str:
        """Return the lookup key of a word, shared by all equivalent spellings."""
        # Not casefold(): gensim uses upper().
        return word.upper() if self._fold else word

    def row(self, word: str) -> int | None:
        """Return the row of a word, as spelt or else in NFC; None if out of vocabulary."""
        return row_in(self._rows, self.key(word))

    @cached_property
    def _rows(self) -> dict[str, int]:
        rows: dict[str, int] = {}
        for row, word in enumerate(self.words):
            rows.setdefault(self.key(word), row)
        return rows

    @cached_property
    def canonical(self) -> Int32:
        """(V') int32: the earliest row with the same lookup key."""
        rows = (self._rows[self.key(word)] for word in self.words)
        return np.fromiter(rows, np.int32, len(self.words))

    @cached_property
    def zero(self) -> Array:
        """(V') bool: vectors without a direction: zero or not finite."""
        zero = np.empty(len(self.words), bool)
        for first in range(0, len(zero), _ROWS):
            zero[first : first + _ROWS] = np.isnan(_norms(self.matrix[first : first + _ROWS]))
        return zero

    def cosines(self, left: Int64, right: Int64) -> Float64:
        """Return the cosines (n) of pairs of rows, in float64; nan where `zero`."""
        a, b = self.matrix[left].astype(np.float64), self.matrix[right].astype(np.float64)
        norms = _norms(a) * _norms(b)
        with np.errstate(invalid="ignore"):  # inf · 0, where the norm is nan anyway
            products = np.einsum("ij,ij->i", a, b)
        return np.asarray(np.clip(products / norms, -1, 1))


@dataclass(frozen=True)
class Coverage:
    """items (n): indices of the usable words; rows (n): their rows; reasons: "" or why not."""

    items: Int64
    rows: Int64
    reasons: list[str]


def has_direction(vector: Float32) -> bool:
    """Return whether a vector (K) is finite and not zero."""
    # Checked one at a time: a set uses few of the file's words, of which there may be millions.
    return bool(np.isfinite(vector).all() and vector.any())


def cover_words(words: Sequence[str], lookup: Lookup) -> Coverage:
    """Look up all words of a set, which must be distinct."""
    seen: set[int | None] = set()
    rows, reasons = [], []
    for word in words:
        row = lookup.row(word)
        reason = MISSING if row is None else "" if has_direction(lookup.matrix[row]) else ZERO
        reasons.append(reason or (SAME if row in seen else ""))
        rows.append(-1 if row is None else row)
        seen.add(row)
    items = np.array([k for k, reason in enumerate(reasons) if not reason], np.int64)
    return Coverage(items, np.array(rows, np.int64)[items], reasons)


def unit_rows(block: Float32) -> Float32:
    """Return rows (n × K) normalised, float32, C-order; zeros for rows without a direction."""
    # In float64, squares of float32 numbers neither overflow nor underflow.
    wide = block.astype(np.float64)
    norms = _norms(wide)
    undirected = np.isnan(norms)
    wide[undirected], norms[undirected] = 0, 1
    return np.asarray(wide / norms[:, None], np.float32, order="C")


def _norms(block: Array) -> Float64:
    """Return the norms (n) of rows, nan for rows that are zero or not finite."""
    wide = block.astype(np.float64, copy=False)
    norms: Float64 = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    norms[~np.isfinite(norms) | (norms == 0)] = np.nan
    return norms
