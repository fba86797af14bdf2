"""What permutations give, and how they are worked through: in blocks of words on the pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Float32, Float64
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress


@dataclass(frozen=True, eq=False)
class NullDistribution:
    """F (B+1 × w) of w words, and the mixture's statistic (B+1), NaN where it does not apply.

    Row 0 is what was observed, computed as the others are.
    """

    F: Float32
    mixture: Float64

    @classmethod
    def empty(cls, count: int, words: int) -> NullDistribution:
        """Return room for `count` arrangements."""
        return cls(np.empty((count, words), np.float32), np.full(count, np.nan))


@dataclass(frozen=True)
class Runner:
    """What runs permutations: threads, bytes, and who is told how far they are."""

    pool: Pool
    memory: int
    progress: Progress

    def over_words(self, work: Callable[[slice], None], words: int, size: int, label: str) -> None:
        """Run `work` on slices of `size` words."""
        blocks = [slice(start, min(start + size, words)) for start in range(0, words, size)]
        for _ in self.follow(self.pool.map(_told(work), blocks), label, words, "words"):
            pass

    def follow(self, items: Iterator[int], label: str, total: int, unit: str) -> Iterable[int]:
        """Tell of items, each being the number of things done."""
        return self.progress.follow(items, label, total, unit, int)


def _told(work: Callable[[slice], None]) -> Callable[[slice], int]:
    def run(block: slice) -> int:
        work(block)
        return int(block.stop - block.start)

    return run
