"""The words that a set may ask for: their rows, by spelling or by folded case, and unit vectors."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from wordgeom.core.types import Array, Float32, Float64, Int32, Int64
from wordgeom.evaluation.options import FOLD, EvalOptions
from wordgeom.vectors.keyed import Vectors

_ROWS = 4096  # of a block


class Lookup:
    """The first V' words of vectors: all, or the first `--restrict-vocab` of them.

    restrict: whether that option applies; it does to pairs and analogies, not to texts. Of words
    that fold to the same, the one earliest in the file is meant, as in gensim.
    """

    def __init__(self, vectors: Vectors, options: EvalOptions, *, restrict: bool = True) -> None:
        limit = options.restrict_vocab if restrict else 0
        self.words = vectors.words[:limit] if limit else vectors.words
        self.matrix: Float32 = vectors.matrix[: len(self.words)]
        self._fold = options.case == FOLD

    def key(self, word: str) -> str:
        """Return what words that count as the same one have in common."""
        # Not casefold(): gensim's scores come of upper().
        return word.upper() if self._fold else word

    def row(self, word: str) -> int | None:
        """Return the row of a word, None where it has no vector."""
        return self._rows.get(self.key(word))

    @cached_property
    def _rows(self) -> dict[str, int]:
        rows: dict[str, int] = {}
        for row, word in enumerate(self.words):
            rows.setdefault(self.key(word), row)
        return rows

    @cached_property
    def canonical(self) -> Int32:
        """(V') for each row the earliest row of the same word, which is its own if case is kept."""
        rows = (self._rows[self.key(word)] for word in self.words)
        return np.fromiter(rows, np.int32, len(self.words))

    @cached_property
    def unit(self) -> Float32:
        """(V' × K) float32, C-order: unit vectors, zeros where `zero` is true."""
        unit = np.empty_like(self.matrix)
        for first in range(0, len(unit), _ROWS):
            unit[first : first + _ROWS] = unit_rows(self.matrix[first : first + _ROWS])
        return unit

    @cached_property
    def zero(self) -> Array:
        """(V') bool: vectors that have no direction, being zero or not finite."""
        zero = np.empty(len(self.words), bool)
        for first in range(0, len(zero), _ROWS):
            zero[first : first + _ROWS] = np.isnan(_norms(self.matrix[first : first + _ROWS]))
        return zero

    def cosines(self, left: Int64, right: Int64) -> Float64:
        """Return the cosines (n) of pairs of rows, computed in float64; nan where `zero`."""
        a, b = self.matrix[left].astype(np.float64), self.matrix[right].astype(np.float64)
        norms = _norms(a) * _norms(b)
        with np.errstate(invalid="ignore"):  # inf · 0 where the norm is nan already
            products = np.einsum("ij,ij->i", a, b)
        return np.asarray(np.clip(products / norms, -1, 1))


def unit_rows(block: Float32) -> Float32:
    """Return rows (n × K) at length 1, float32, C-order; zeros for those without a direction."""
    # In float64: squares of float32 neither overflow nor vanish.
    wide = block.astype(np.float64)
    norms = _norms(wide)
    without = np.isnan(norms)
    wide[without], norms[without] = 0, 1
    return np.asarray(wide / norms[:, None], np.float32, order="C")


def _norms(block: Array) -> Float64:
    """Return the lengths (n) of rows, nan for those that are zero or not finite."""
    wide = block.astype(np.float64, copy=False)
    norms: Float64 = np.sqrt(np.einsum("ij,ij->i", wide, wide))
    norms[~np.isfinite(norms) | (norms == 0)] = np.nan
    return norms
