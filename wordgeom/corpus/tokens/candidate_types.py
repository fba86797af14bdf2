"""The types that may get a row, collected range by range within a memory limit."""

from __future__ import annotations

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import exceeding
from wordgeom.core.types import Int32, Int64
from wordgeom.corpus.tokens.lexicon import Lexicon

WORD_BYTES = 200  # memory of a word with a row: its Python string, its entry, its counts
_SPARE = 1 << 16  # types beyond those needed before the surplus is discarded


def check_vocabulary_fits(words: int, limit: int) -> None:
    """Raise InputError if a vocabulary of this size exceeds `limit` bytes."""
    if words * WORD_BYTES > limit:
        need, most = exceeding(words * WORD_BYTES, limit)
        raise InputError(
            f"the vocabulary does not fit in memory: {words:,} words or more need {need}, more than"
            f" {most}",
            do="raise --min-count, pass --max-vocab, or raise --memory: words may use half of it",
        )


class CandidateTypes:
    """Types in the order of their numbers; at_most: how many by count are needed, 0 for all.

    limit: bytes of memory. `table` and `ids` are valid after `finish`.
    """

    def __init__(self, at_most: int, limit: int) -> None:
        self._at_most, self._limit = at_most, limit
        self._parts: list[tuple[Lexicon, Int64, Int64]] = []
        self._held = 0
        self.table = Lexicon.of([])
        self._numbers = np.empty(0, np.int64)

    def add(self, types: Lexicon, numbers: Int64, listed: Int64) -> None:
        """Add new types, whose numbers exceed all before; `listed` (ids) are never discarded."""
        self._parts.append((types, numbers, listed))
        self._held += len(types)
        if self._at_most and self._held > 2 * self._at_most + _SPARE:
            self._discard()
        check_vocabulary_fits(self._held, self._limit)

    def finish(self) -> None:
        """Build the table."""
        types, self._numbers, _ = self._joined()
        self._parts.clear()
        self.table = types

    def ids(self, numbers: Int64) -> Int64:
        """Return the ids in the table of type numbers, -1 for a discarded type."""
        if not len(self._numbers):
            return np.full(len(numbers), -1, np.int64)
        ids = np.minimum(np.searchsorted(self._numbers, numbers), len(self._numbers) - 1)
        return np.where(self._numbers[ids] == numbers, ids, -1)

    def _joined(self) -> tuple[Lexicon, Int64, Int64]:
        sizes = np.cumsum([0, *(len(types) for types, _, _ in self._parts)])
        table = Lexicon.concatenated([types for types, _, _ in self._parts])
        none = np.empty(0, np.int64)
        numbers = np.concatenate([none, *(numbers for _, numbers, _ in self._parts)])
        listed = [ids + base for (_, _, ids), base in zip(self._parts, sizes[:-1], strict=True)]
        return table, numbers, np.concatenate([none, *listed])

    def _discard(self) -> None:
        """Discard types that cannot get a row, by count, then by first occurrence."""
        types, numbers, listed = self._joined()
        best = np.lexsort((types.firsts, -types.counts))[: self._at_most]
        stays = np.zeros(len(types), bool)
        stays[best] = stays[listed] = True
        ids: Int32 = np.flatnonzero(stays).astype(np.int32)
        self._parts = [(types.select(ids), numbers[ids], np.searchsorted(ids, listed))]
        self._held = len(ids)
