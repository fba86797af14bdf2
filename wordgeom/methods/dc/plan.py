"""The plan of blocks: which words each block holds, and with which earlier block it is merged.

Words are numbered by position in an order. A later block has words of its own, and an overlap: a
range of words that earlier blocks place. Along a chain, the overlap is the end of the block before.
In a tree, it is the end of block ⌊p/2⌋, so that an error passes through log₂ P merges instead of P.
With a common core, it is the beginning of the first block, for every block.

In each plan, every later block is aligned to one earlier block. Least squares over all overlaps at
once has the same minimum as these alignments one by one, because the sum has one term per block, in
which the block's own rotation is free.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.types import Int64

CHAIN, TREE, CORE = "chain", "tree", "core"
MERGES = (CHAIN, TREE, CORE)


@dataclass(frozen=True)
class Plan:
    """P blocks of V words.

    order (V): the word at each position; starts (P + 1): the first position of each block's own
    words, and V; parents (P): the block to which each is aligned; overlap: words shared with it;
    merge: one of MERGES.
    """

    order: Int64
    starts: Int64
    parents: Int64
    overlap: int
    merge: str

    @property
    def blocks(self) -> int:
        """The number of blocks, P."""
        return len(self.starts) - 1

    def own(self, block: int) -> int:
        """Return the number of a block's own words."""
        return int(self.starts[block + 1] - self.starts[block])

    @property
    def begins(self) -> Int64:
        """The first position (P) of each block's overlap; 0 for the first block, which has none."""
        if self.merge == CORE:
            return np.zeros(self.blocks, np.int64)
        begins = self.starts[self.parents + 1] - self.overlap
        begins[0] = 0
        return begins

    @property
    def children(self) -> Int64:
        """The blocks [first, last) aligned to each block (P × 2), in a chain or a tree."""
        numbers = np.arange(self.blocks)
        first = 2 * numbers if self.merge == TREE else numbers + 1
        last = 2 * numbers + 2 if self.merge == TREE else numbers + 2
        first[0], last[0] = 1, 2
        ranges = np.minimum(np.stack((first, last), axis=1), self.blocks)
        return np.zeros_like(ranges) if self.merge == CORE else ranges


def make_plan(order: Int64, first: int, new: int, overlap: int, merge: str, least: int) -> Plan:
    """Return the plan of a first block of `first` words and later ones of `new` own words.

    A last block with fewer than `least` own words joins the block before. Raises RankError if the
    first block has fewer words than an overlap.
    """
    V = len(order)
    starts = np.array([0, *range(min(first, V), V, new), V], np.int64)
    if len(starts) > 2 and V - starts[-2] < least:
        starts = np.delete(starts, -2)
    if len(starts) > 2 and overlap > starts[1]:
        what = f"the first block has {starts[1]:,} words, fewer than the overlap of {overlap:,}"
        raise RankError(what, do="raise --first-block or lower --overlap")
    numbers = np.arange(len(starts) - 1)
    parents = {CHAIN: np.maximum(numbers - 1, 0), TREE: numbers // 2, CORE: 0 * numbers}
    return Plan(order, starts, parents[merge], overlap, merge)
