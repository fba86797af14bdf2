"""Pairs of items, each once, with what is given about them."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.types import Array, Float32, Int32


@dataclass(frozen=True)
class Pairs:
    """p distinct pairs of items, ordered by left, then right.

    left, right (p) int32: rows, left < right; given (p) float32: weights > 0, or deviations ≥ 0.
    """

    left: Int32
    right: Int32
    given: Float32

    def __len__(self) -> int:
        return len(self.left)

    def chosen(self, which: Array) -> Pairs:
        """Return the pairs of a mask (p) bool, or of ascending numbers (k) of pairs."""
        return Pairs(self.left[which], self.right[which], self.given[which])
