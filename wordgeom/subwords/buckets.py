"""Hashed n-grams: those with one hash share a number, as in fastText.

The hash is FNV-1a of 32 bits over the bytes of the n-gram in UTF-8, each taken as a signed number
(Dictionary::hash of fastText), modulo the number of buckets.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Int64
from wordgeom.subwords.ngrams import Ngrams


@dataclass(frozen=True)
class Buckets:
    """Buckets, of `number` in all; n-grams must be cut by Utf8.

    used: those that have a vector, ascending; None for all.
    """

    number: int
    used: Int64 | None = None

    def __len__(self) -> int:
        return self.number if self.used is None else len(self.used)

    def find(self, ngrams: Ngrams) -> Int64:
        """Return the places of the n-grams' buckets in `used`, -1 for those not in use."""
        from wordgeom.subwords import ngram_kernels as kernels

        found = np.empty(len(ngrams.begins), np.int64)
        kernels.fnv_buckets(ngrams.symbols, ngrams.begins, ngrams.ends, self.number, found)
        if self.used is None:
            return found
        places = np.minimum(np.searchsorted(self.used, found), len(self.used) - 1)
        return np.where(self.used[places] == found, places, -1)

    def add(self, ngrams: Ngrams) -> Int64:
        """Return the buckets of n-grams, all of which are there."""
        return self.find(ngrams)

    def keep(self, numbers: Int64) -> Buckets:
        """Return some of the buckets; numbers: ascending."""
        return Buckets(self.number, numbers if self.used is None else self.used[numbers])
