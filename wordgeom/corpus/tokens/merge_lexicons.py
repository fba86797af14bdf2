"""Merge the runs of all threads into one table of the types that may get a row.

If no run was spilled, whole lexicons are merged. Otherwise ranges of buckets are merged in
parallel, and each range keeps only the types that may get a row. The number of a type combines its
range (upper half) with its index among the types kept (lower half). Ranges therefore need not wait
for each other, and the table is in the order of the numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Int32, Int64, offsets
from wordgeom.corpus.tokens import spill
from wordgeom.corpus.tokens.candidate_types import CandidateTypes
from wordgeom.corpus.tokens.lexicon import Lexicon
from wordgeom.corpus.tokens.spill import Part, Run, Runs
from wordgeom.runtime.context import Context

_NOWHERE = -1


@dataclass(frozen=True)
class Selection:
    """Which types may get a row: those with `at_least` occurrences, and the words `listed`.

    at_most: how many of the most frequent are needed, 0 for all; limit: bytes for them.
    """

    listed: list[bytes]
    at_least: int
    at_most: int
    limit: int


@dataclass(frozen=True)
class Statistics:
    """types: number of distinct words; most: count of the most frequent; tokens: of all words."""

    types: int
    most: int
    tokens: int

    def plus(self, other: Statistics) -> Statistics:
        """Return the statistics of both, which have no type in common."""
        most = max(self.most, other.most)
        return Statistics(self.types + other.types, most, self.tokens + other.tokens)


@dataclass(frozen=True)
class MergedLexicon:
    """The table of types that may get a row, and statistics of all types.

    listed: ids in the table of the listed words; ids: maps a run to (types) the id in the table of
    each provisional id, -1 for none.
    """

    table: Lexicon
    listed: Int64
    ids: Callable[[int], Int64 | Int32]
    statistics: Statistics


@dataclass(frozen=True)
class _Range:
    """The types kept of a range of buckets, their numbers, and the ids of listed words."""

    types: Lexicon
    numbers: Int64
    listed: Int64
    statistics: Statistics


def merge_runs(runs: Runs, selection: Selection, context: Context) -> MergedLexicon:
    """Merge the runs of all threads. Raises InputError if the table does not fit, WriteError."""
    if runs.spilled:
        return _merge_spilled(runs, selection, context)
    return context.pool.call(lambda: _merge_in_memory(runs, selection.listed))


def _merge_in_memory(runs: Runs, words: list[bytes]) -> MergedLexicon:
    held = runs.lexicons()
    table = held[0].lexicon if held else Lexicon()
    same = np.arange(len(table), dtype=np.int32)
    ids = {c.run: same if c.lexicon is table else table.absorb(c.lexicon) for c in held}
    listed = table.add(words).astype(np.int64)
    return MergedLexicon(table, listed, ids.__getitem__, statistics_of(table))


def _merge_spilled(runs: Runs, selection: Selection, context: Context) -> MergedLexicon:
    pool = context.pool
    list(pool.map(runs.spill, [c for c in runs.lexicons() if len(c.lexicon)]))
    runs.release()
    listing, ids_of_listed, costs = pool.call(lambda: _write_listed(runs, selection.listed))
    ranges = list(enumerate(row_blocks(offsets(runs.costs + costs), entries=runs.limit)))
    candidates = CandidateTypes(selection.at_most, selection.limit)
    statistics = Statistics(0, 0, 0)

    def merge_range(numbered: tuple[int, tuple[int, int]]) -> _Range:
        return _merge_range(runs, listing, selection.at_least, *numbered)

    done = pool.map(merge_range, ranges, ahead=pool.threads)
    shown = context.progress.follow(done, "merging words", len(ranges), "parts", lambda _: 1)
    for merged in shown:
        pool.call(partial(candidates.add, merged.types, merged.numbers, merged.listed))
        statistics = statistics.plus(merged.statistics)
    pool.call(candidates.finish)

    def ids(run: int) -> Int64:
        return candidates.ids(spill.numbers(runs.scratch, runs.spilled[run]))

    listed = candidates.ids(spill.numbers(runs.scratch, listing))[ids_of_listed]
    return MergedLexicon(candidates.table, listed, ids, statistics)


def _write_listed(runs: Runs, words: list[bytes]) -> tuple[Run, Int32, Int64]:
    """Write the listed words as a run; return it, the ids of the words in it, and its costs."""
    lexicon = Lexicon()
    ids = lexicon.add(words)
    run, costs = spill.write_run(lexicon, runs.scratch, runs.scratch)
    return run, ids, costs


def _merge_range(
    runs: Runs, listing: Run, at_least: int, index: int, buckets: tuple[int, int]
) -> _Range:
    """Merge a range of buckets of all runs, and write the numbers of each run's types."""
    scratch = runs.scratch
    parts = [Part.of(run, *buckets) for run in (listing, *runs.spilled.values())]
    types, size = sum(p.last - p.first for p in parts), sum(p.end - p.begin for p in parts)
    lexicon = Lexicon.with_room(types, size)
    ids = [lexicon.absorb(part.read()) for part in parts]
    stays = lexicon.counts >= at_least
    stays[ids[0]] = True
    chosen: Int32 = np.flatnonzero(stays).astype(np.int32)
    numbers = np.full(len(lexicon), _NOWHERE, np.int64)
    numbers[chosen] = (index << 32) + np.arange(len(chosen))
    for part, merged in zip(parts, ids, strict=True):
        part.write_numbers(scratch, numbers[merged])
    listed = np.searchsorted(chosen, ids[0])
    return _Range(lexicon.select(chosen), numbers[chosen], listed, statistics_of(lexicon))


def statistics_of(lexicon: Lexicon) -> Statistics:
    """Return the statistics of a lexicon."""
    counts = lexicon.counts
    types = int(np.count_nonzero(counts))
    return Statistics(types, int(counts.max(initial=0)), int(counts.sum()))
