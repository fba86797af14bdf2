"""Statistics under permutations, computed in blocks of permutations and words on the pool."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from wordgeom.core.types import Float32, Float64, Int32
from wordgeom.drift.contrasts import Contrasts, word_f_values
from wordgeom.drift.permutations import Permutations
from wordgeom.drift.statistics import WordResiduals
from wordgeom.runtime.context import Context

_Group = TypeVar("_Group")
_Prepared = TypeVar("_Prepared")


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
    """Permutations, prepared for all words; contrasts: of each group; mixture: of all of them."""

    contrasts: list[Contrasts]
    mixture: Float64

    def products(self, words: slice) -> Iterator[Float32]:
        """Yield Rᵀdiag(g_k)Z (b × q × w × r+1) of a slice of words, by group of b permutations."""


def compute_null(
    permutations: Permutations, size: int, prepare: Callable[[Int32], Block], words: WordResiduals,
    q: int, word_block: int, context: Context, unit: str,
) -> Null:  # fmt: skip
    """Return the statistics of words under permutations, in blocks of `size`; q: the degree."""
    null = Null.empty(permutations.count, len(words))
    starts = range(0, len(words), word_block)
    parts = [slice(start, min(start + word_block, len(words))) for start in starts]
    for start, codes in enumerate(permutations.blocks(size)):
        rows = slice(start * size, start * size + len(codes))
        block = prepare(codes)
        null.mixture[rows] = block.mixture
        label = f"permutations {rows.start:,} to {rows.stop - 1:,} of {unit}"
        done = context.pool.map(partial(_fill, null.F[rows], block, words, q), parts)
        for _ in context.progress.follow(done, label, len(words), "words", int):
            pass
    return null


def prepare_groups(
    prepare: Callable[[_Group], _Prepared], groups: Sequence[_Group], context: Context
) -> list[_Prepared]:
    """Return what `prepare` makes of each group of permutations; many times make this slow."""
    done = context.pool.map(prepare, groups)
    label, unit = "preparing permutations", "groups"
    return list(context.progress.follow(done, label, len(groups), unit, lambda _: 1))


def _fill(F: Float32, block: Block, words: WordResiduals, q: int, part: slice) -> int:
    """Set F (· × w) at the columns `part`; return their number."""
    residuals, at = words.of(part, q), 0
    for found, products in zip(block.contrasts, block.products(part), strict=True):
        F[at : at + len(products), part] = word_f_values(found, products, residuals)
        at += len(products)
    return int(part.stop - part.start)
