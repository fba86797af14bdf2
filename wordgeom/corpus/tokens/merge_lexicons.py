"""The runs of all threads joined: a table of the types that may get a row, and the ways to it.

Runs that were never spilled are joined whole. Spilled ones are joined a range of buckets at a time,
in parallel; of each range only the types that may get a row are kept. A type's number is its range
in the upper half and its place among those kept in the lower, so that ranges need not wait for each
other, and the table is in the order of the numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from wordgeom.core.types import Int32, Int64
from wordgeom.corpus.tokens import spill
from wordgeom.corpus.tokens.lexicon import Lexicon
from wordgeom.corpus.tokens.retained_types import Survivors
from wordgeom.corpus.tokens.spill import Part, Run, Runs
from wordgeom.runtime.context import Context

NOWHERE = -1


@dataclass(frozen=True)
class Wanted:
    """Which types may get a row: those seen `at_least` so often, and the words `named`.

    at_most: how many of the most frequent are enough, 0 for all; room: bytes for them.
    """

    named: list[bytes]
    at_least: int
    at_most: int
    room: int


@dataclass(frozen=True)
class Joined:
    """The table of types that may get a row, and what is known of all types.

    named: ids in the table of the words that were named; ids: a run → (types) id in the table of
    each provisional id, -1 for none; types: how many different words there are; most: how often
    the most frequent occurs; tokens: how many words in all.
    """

    table: Lexicon
    named: Int64
    ids: Callable[[int], Int64 | Int32]
    types: int
    most: int
    tokens: int


@dataclass(frozen=True)
class _Facts:
    types: int
    most: int
    tokens: int

    def plus(self, other: _Facts) -> _Facts:
        return _Facts(
            self.types + other.types, max(self.most, other.most), self.tokens + other.tokens
        )


@dataclass(frozen=True)
class _Range:
    """What is kept of a range of buckets: types, their numbers, those that were named."""

    kept: Lexicon
    numbers: Int64
    named: Int64
    facts: _Facts


def join(runs: Runs, wanted: Wanted, context: Context) -> Joined:
    """Join the runs of all threads. Raises InputError where the table does not fit, WriteError."""
    if runs.spilled:
        return _join_spilled(runs, wanted, context)
    return context.pool.call(lambda: _join_held(runs, wanted.named))


def _join_held(runs: Runs, named: list[bytes]) -> Joined:
    held = runs.held()
    table = held[0].lexicon if held else Lexicon()
    same = np.arange(len(table), dtype=np.int32)
    ids = {c.run: same if c.lexicon is table else table.absorb(c.lexicon) for c in held}
    found = table.add(named).astype(np.int64)
    facts = _facts(table)
    return Joined(table, found, ids.__getitem__, facts.types, facts.most, facts.tokens)


def _join_spilled(runs: Runs, wanted: Wanted, context: Context) -> Joined:
    pool = context.pool
    list(pool.map(runs.spill, [c for c in runs.held() if len(c.lexicon)]))
    runs.release()
    naming, ids_of_named, costs = pool.call(lambda: _put_named(runs, wanted.named))
    ranges = list(enumerate(_ranges(runs.costs + costs, runs.room)))
    survivors = Survivors(wanted.at_most, wanted.room)
    facts = _Facts(0, 0, 0)

    def join_range(numbered: tuple[int, tuple[int, int]]) -> _Range:
        return _join_range(runs, naming, wanted.at_least, *numbered)

    done = pool.map(join_range, ranges, ahead=pool.threads)
    for joined in context.progress.follow(done, "joining words", len(ranges), "parts", _one):
        pool.call(partial(survivors.add, joined.kept, joined.numbers, joined.named))
        facts = facts.plus(joined.facts)
    pool.call(survivors.finish)

    def ids(run: int) -> Int64:
        return survivors.places(spill.numbers(runs.scratch, runs.spilled[run]))

    found = survivors.places(spill.numbers(runs.scratch, naming))[ids_of_named]
    return Joined(survivors.table, found, ids, facts.types, facts.most, facts.tokens)


def _put_named(runs: Runs, words: list[bytes]) -> tuple[Run, Int32, Int64]:
    """Return the named words as a run, the ids in it of the words, and its costs."""
    named = Lexicon()
    ids = named.add(words)
    run, costs = spill.put(named, runs.scratch, runs.scratch)
    return run, ids, costs


def _ranges(costs: Int64, room: int) -> list[tuple[int, int]]:
    """Cut the buckets into ranges of at least one bucket that cost at most `room` to join."""
    total = np.concatenate(([0], np.cumsum(costs)))
    ranges, low = [], 0
    while low < len(costs):
        high = int(np.searchsorted(total, total[low] + room, side="right")) - 1
        high = max(high, low + 1)
        ranges.append((low, high))
        low = high
    return ranges


def _join_range(
    runs: Runs, naming: Run, at_least: int, index: int, buckets: tuple[int, int]
) -> _Range:
    """Join a range of buckets of all runs, and note for each run's types their numbers."""
    scratch = runs.scratch
    parts = [Part.of(run, *buckets) for run in (naming, *runs.spilled.values())]
    types, size = sum(p.last - p.first for p in parts), sum(p.end - p.begin for p in parts)
    lexicon = Lexicon.roomy(types, size)
    ids = [lexicon.absorb(part.read()) for part in parts]
    stays = lexicon.counts >= at_least
    stays[ids[0]] = True
    kept: Int32 = np.flatnonzero(stays).astype(np.int32)
    numbers = np.full(len(lexicon), NOWHERE, np.int64)
    numbers[kept] = (index << 32) + np.arange(len(kept))
    for part, found in zip(parts, ids, strict=True):
        part.note(scratch, numbers[found])
    named = np.searchsorted(kept, ids[0])
    return _Range(lexicon.select(kept), numbers[kept], named, _facts(lexicon))


def _one(_: _Range) -> int:
    return 1


def _facts(lexicon: Lexicon) -> _Facts:
    counts = lexicon.counts
    types = int(np.count_nonzero(counts))
    return _Facts(types, int(counts.max(initial=0)), int(counts.sum()))
