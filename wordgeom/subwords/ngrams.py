"""The n-grams of words, the interface of what numbers them, and their shares in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.types import Csr, Int64, offsets
from wordgeom.subwords.lengths import Lengths
from wordgeom.subwords.units.unit import Unit

_WORDS = 1 << 13  # words of a block


@dataclass(frozen=True)
class Ngrams:
    """The n-grams of words, one after another: symbols[begins[t]:ends[t]].

    firsts (words + 1): the first n-gram of each word.
    """

    symbols: NDArray[np.uint32]
    begins: Int64
    ends: Int64
    firsts: Int64


class Index(Protocol):
    """Numbers the n-grams that have a vector."""

    def __len__(self) -> int:
        """Return how many there are."""

    def find(self, ngrams: Ngrams) -> Int64:
        """Return the numbers of n-grams, -1 for those without a vector."""

    def add(self, ngrams: Ngrams) -> Int64:
        """Return the numbers of n-grams, giving new ones a number."""

    def keep(self, numbers: Int64) -> Index:
        """Return the index of some of the n-grams, numbered from 0; numbers: ascending."""


def ngrams_of(words: Sequence[str], unit: Unit, lengths: Lengths) -> Ngrams:
    """Return the n-grams of words."""
    from wordgeom.subwords import ngram_kernels as kernels

    cut, nothing = unit.cut(words), np.empty(0, np.int64)
    firsts = np.zeros(len(words) + 1, np.int64)
    ends = lengths.low, lengths.high
    number = kernels.list_ngrams(cut.bounds, cut.starts, *ends, nothing, nothing, firsts)
    begins, stops = np.empty((2, number), np.int64)
    if number:
        kernels.list_ngrams(cut.bounds, cut.starts, *ends, begins, stops, firsts)
    return Ngrams(cut.symbols, begins, stops, firsts)


def blocks_of(words: Sequence[str], unit: Unit, lengths: Lengths) -> Iterator[Ngrams]:
    """Yield the n-grams of words, a block of words at a time."""
    for start in range(0, len(words), _WORDS):
        yield ngrams_of(words[start : start + _WORDS], unit, lengths)


def incidence(ngrams: Ngrams, numbers: Int64, columns: int) -> Csr:
    """Return the share of each n-gram in each word (words × columns) float32.

    numbers: of the n-grams, -1 for those without a column, which count as well.
    """
    totals = np.diff(ngrams.firsts)
    owners = np.repeat(np.arange(len(totals)), totals)
    known = numbers >= 0
    keys, counts = np.unique(owners[known] * columns + numbers[known], return_counts=True)
    rows, indices = np.divmod(keys, max(1, columns))
    data = (counts / totals[rows]).astype(np.float32)
    indptr = offsets(np.bincount(rows, minlength=len(totals)))
    return Csr(indptr, indices.astype(np.int32), data, columns)


def joined(parts: Sequence[Csr]) -> Csr:
    """Return the rows of matrices with the same columns, one below the other."""
    lengths = np.concatenate([np.diff(part.indptr) for part in parts])
    indices = np.concatenate([part.indices for part in parts])
    data = np.concatenate([part.data for part in parts])
    return Csr(offsets(lengths), indices, data, parts[0].columns)
