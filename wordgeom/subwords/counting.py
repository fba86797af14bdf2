"""The n-grams of a vocabulary: those that occur in enough words, and their shares in each word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Csr, Int64, offsets
from wordgeom.subwords.buckets import Buckets
from wordgeom.subwords.dictionary import Dictionary
from wordgeom.subwords.ngrams import Index, blocks_of, incidence, joined
from wordgeom.subwords.options import SubwordOptions
from wordgeom.subwords.units.morphs import Morphs
from wordgeom.subwords.units.unit import Unit


def count_ngrams(words: Sequence[str], unit: Unit, options: SubwordOptions) -> tuple[Index, Csr]:
    """Return the N n-grams that occur in enough words, and their shares in words (V × N) float32.

    The share of an n-gram is its part of all n-grams of the word, counted or not. Raises InputError
    where no n-gram occurs in enough words.
    """
    every: Index = Buckets(options.buckets) if options.buckets else Dictionary.empty()
    parts = []
    for block in blocks_of(words, unit, options.lengths):
        numbers = every.add(block)
        parts.append(incidence(block, numbers, len(every)))
    shares = joined(parts)
    numbers, holders = np.unique(shares.indices, return_counts=True)
    kept = numbers[holders >= options.min_words].astype(np.int64)
    if not len(kept):
        if isinstance(unit, Morphs) and not any(word in unit.table for word in words):
            what = f"none of {len(words):,} words has a line in {options.morphs}"
            raise InputError(what, do="pass a segmentation of these words")
        which = f"no n-gram of {options.lengths} units"
        what = f"{which} occurs in {options.min_words:,} of {len(words):,} words"
        raise InputError(what, do="lower --min-words, or pass shorter --subwords")
    return every.keep(kept), _with_columns(shares, kept)


def _with_columns(matrix: Csr, kept: Int64) -> Csr:
    """Return some columns of a matrix; kept: ascending."""
    places = np.minimum(np.searchsorted(kept, matrix.indices), len(kept) - 1)
    there = kept[places] == matrix.indices
    passed = offsets(there)
    indices = places[there].astype(np.int32)
    return Csr(passed[matrix.indptr], indices, matrix.data[there], len(kept))
