"""Statistics under permutations, computed in blocks of permutations and words on the pool."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from wordgeom.core.types import Float32, Float64, Int32
from wordgeom.drift.permutations import Permutations
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress


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


@dataclass(frozen=True)
class Runner:
    """Threads, the memory limit in bytes, and progress."""

    pool: Pool
    memory: int
    progress: Progress

    def over_words(self, work: Callable[[slice], None], words: int, size: int, label: str) -> None:
        """Call `work` on slices of `size` words, in parallel."""

        def run(block: slice) -> int:
            work(block)
            return int(block.stop - block.start)

        blocks = [slice(start, min(start + size, words)) for start in range(0, words, size)]
        for _ in self.follow(self.pool.map(run, blocks), label, words, "words"):
            pass

    def follow(self, items: Iterator[int], label: str, total: int, unit: str) -> Iterable[int]:
        """Report progress over items, each the number of units done."""
        return self.progress.follow(items, label, total, unit, int)


# The mixture statistic of b permutations, and a function that sets F (b × w) of w words.
Block = tuple[Float64, Callable[[Float32, slice], None]]


def compute_null(
    permutations: Permutations, size: int, prepare: Callable[[Int32], Block], words: int,
    word_block: int, runner: Runner, unit: str,
) -> Null:  # fmt: skip
    """Return the statistics of `words` words under permutations, in blocks of `size`."""
    null = Null.empty(permutations.count, words)
    for start, codes in enumerate(permutations.blocks(size)):
        rows = slice(start * size, start * size + len(codes))
        null.mixture[rows], fill = prepare(codes)
        label = f"permutations {rows.start:,} to {rows.stop - 1:,} of {unit}"
        runner.over_words(partial(fill, null.F[rows]), words, word_block, label)
    return null
