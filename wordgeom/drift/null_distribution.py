"""Statistics under permutations, computed in blocks of permutations and words on the pool."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from wordgeom.core.types import Float32, Float64, Int32
from wordgeom.drift.permutations import Permutations
from wordgeom.runtime.context import Context


@dataclass(frozen=True, eq=False)
class Null:
    """F (B+1 × w) of w words and the mixture statistic (B+1), NaN where it does not apply.

    Row 0 is the observed order, computed in the same way as the others.
    """

    F: Float32
    mixture: Float64

    @classmethod
    def empty(cls, count: int, words: int) -> Null:
        """Return uninitialised space for `count` permutations."""
        return cls(np.empty((count, words), np.float32), np.full(count, np.nan))


class Block(Protocol):
    """A block of b permutations, prepared for all words; mixture (b): their mixture statistic."""

    mixture: Float64

    def fill(self, F: Float32, words: slice) -> None:
        """Set F (b × w) at the columns `words`."""


def compute_null(
    permutations: Permutations, size: int, prepare: Callable[[Int32], Block], words: int,
    word_block: int, context: Context, unit: str,
) -> Null:  # fmt: skip
    """Return the statistics of `words` words under permutations, in blocks of `size`."""
    null = Null.empty(permutations.count, words)
    for start, codes in enumerate(permutations.blocks(size)):
        rows = slice(start * size, start * size + len(codes))
        block = prepare(codes)
        null.mixture[rows] = block.mixture
        label = f"permutations {rows.start:,} to {rows.stop - 1:,} of {unit}"
        _fill(block, null.F[rows], word_block, label, context)
    return null


def _fill(block: Block, F: Float32, size: int, label: str, context: Context) -> None:
    """Set F (b × w) on the pool, `size` words at a time."""
    total = F.shape[1]

    def fill(start: int) -> int:
        words = slice(start, min(start + size, total))
        block.fill(F, words)
        return int(words.stop - words.start)

    done = context.pool.map(fill, range(0, total, size))
    for _ in context.progress.follow(done, label, total, "words", int):
        pass
