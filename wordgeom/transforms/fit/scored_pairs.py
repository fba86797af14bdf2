"""Pairs of words with scores, and the cosines of their vectors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.types import Float64, Int64


@dataclass(frozen=True)
class ScoredPairs:
    """Pairs of u words: left, right (m) int64, positions below u; scores (m) float64."""

    left: Int64
    right: Int64
    scores: Float64

    def part(self, which: Int64) -> ScoredPairs:
        """Return some of the pairs."""
        return replace(
            self, left=self.left[which], right=self.right[which], scores=self.scores[which]
        )

    def cosines(self, vectors: Float64) -> Float64:
        """Return the cosines (m) of nonzero vectors (u × K)."""
        units = unit(vectors)
        return np.asarray(np.einsum("ij,ij->i", units[self.left], units[self.right]))


def unit(vectors: Float64) -> Float64:
    """Return vectors (n × K) of length 1; zero vectors stay zero."""
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return np.asarray(vectors / np.where(lengths > 0, lengths, 1.0)[:, None])
