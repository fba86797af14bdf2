"""A subword model: the vectors of n-grams, from which any word gets a vector.

The vector of a word is the mean of the vectors of its n-grams, those that have none counting as 0.
That is fastText's (Bojanowski et al. 2017) for words that it did not see.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Csr, Float32, Float64
from wordgeom.subwords.lengths import Lengths
from wordgeom.subwords.ngrams import Index, blocks_of, incidence, joined
from wordgeom.subwords.units.unit import Unit


@dataclass(frozen=True)
class FitSettings:
    """How n-grams were fitted to words: the ridge λ, and the half rank h of the words' weights."""

    ridge: float
    half_rank: float


@dataclass(frozen=True, eq=False, repr=False)
class SubwordModel:
    """Vectors (N × K) float32 of the n-grams of an index.

    name: of the unit; added: whether the vectors of words are their own plus those of the n-grams,
    and not a mean of both as in fastText; fit: None if it is not known, or there was none.
    """

    name: str
    unit: Unit
    lengths: Lengths
    index: Index
    vectors: Float32
    added: bool = True
    fit: FitSettings | None = None

    def __repr__(self) -> str:
        ngrams, columns = self.vectors.shape
        return f"<{type(self).__name__} of {ngrams:,} × {columns:,}>"

    @property
    def digest(self) -> str:
        """The SHA-256 of the vectors of the n-grams."""
        return hashlib.sha256(np.ascontiguousarray(self.vectors).data).hexdigest()

    def shares(self, words: Sequence[str]) -> Csr:
        """Return the share of each n-gram in each word (n × N) float32."""
        blocks = blocks_of(words, self.unit, self.lengths)
        number = len(self.index)
        return joined([incidence(block, self.index.find(block), number) for block in blocks])

    def known_shares(self, words: Sequence[str]) -> Float64:
        """Return the share of the n-grams of each word (n) that have a vector."""
        shares = self.shares(words)
        rows = np.repeat(np.arange(len(words)), np.diff(shares.indptr))
        return np.asarray(np.bincount(rows, shares.data, len(words)), np.float64)

    def vectors_of(self, words: Sequence[str]) -> Float32:
        """Return the vectors (n × K) of words, 0 for a word without a known n-gram."""
        import scipy.sparse

        if not words:
            return np.zeros((0, self.vectors.shape[1]), np.float32)
        shares = self.shares(words)
        parts, shape = (shares.data, shares.indices, shares.indptr), (len(words), shares.columns)
        made: Float32 = scipy.sparse.csr_array(parts, shape=shape) @ self.vectors
        return made
