"""One lexicon per thread, which is spilled to disk and emptied whenever it is full.

The types that a thread reads between two spills are a run; a provisional id is valid only within
its run. A spilled run is stored in the order of buckets, the upper bits of the types' hashes, so
that any range of buckets can be merged over all runs without the others (merge_lexicons.py).
Nothing is pruned: counts are exact and do not depend on how the text was split into runs.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.types import Bytes, Int32, Int64
from wordgeom.corpus.tokens import lexicon_kernels as kernels
from wordgeom.corpus.tokens.lexicon import Lexicon
from wordgeom.corpus.tokens.spill_kernels import BUCKET_BITS, deal
from wordgeom.runtime.pool import PerThread, Pool
from wordgeom.storage.files import Closing
from wordgeom.storage.scratch import ArrayFile, Scratch

BUCKETS = 1 << BUCKET_BITS
TYPE_BYTES = 80  # memory of a type while its bucket is merged, without its text
_SHARE = 8  # of the memory, for the lexicons of all threads
_MOST = 1 << 27  # bytes of a lexicon; spilling takes up to .3 s, during which Ctrl-C waits
ENTRY_BYTES = 32


@dataclass(frozen=True)
class Run:
    """A stored run: its number of types and the offsets of its parts.

    order (types) int32: provisional ids by bucket; edges (buckets + 1, 2) int64: first type and
    byte of each bucket; numbers (types) int64, in scratch space: the merged type numbers.
    """

    shelf: ArrayFile
    types: int
    order: int
    edges: int
    entries: int
    arena: int
    numbers: int = -1

    def read_edges(self) -> Int64:
        """(buckets + 1, 2) first type and byte of each bucket."""
        return _array(self.shelf, self.edges, (BUCKETS + 1, 2))


@dataclass
class ThreadLexicon:
    """A thread's lexicon and the number of its current run."""

    run: int
    lexicon: Lexicon


class Runs(Closing):
    """The runs of all threads; memory: bytes that the program may use."""

    def __init__(self, memory: int, threads: int, directory: str | None) -> None:
        self.limit = min(memory // _SHARE // threads, _MOST)
        self.scratch = Scratch(directory)
        self.spilled: dict[int, Run] = {}
        self._shelf: ArrayFile = self.scratch
        self._of_segment: dict[int, Run] = {}
        self.costs = np.zeros(BUCKETS, np.int64)  # bytes that merging a bucket may take
        self._lock = threading.Lock()
        self._number = 0
        self._threads = PerThread(self._new)

    def close(self) -> None:
        """Free all runs."""
        self.release()
        self.spilled.clear()
        self.scratch.close()

    def mine(self) -> ThreadLexicon:
        """Return the calling thread's lexicon."""
        return self._threads.own()[1]

    def lexicons(self) -> list[ThreadLexicon]:
        """Return the lexicons that are in memory."""
        return self._threads.all

    def spill(self, current: ThreadLexicon) -> None:
        """Store a lexicon and empty it for the next run; raises WriteError."""
        run, costs = write_run(current.lexicon, self._shelf, self.scratch)
        with self._lock:
            self.spilled[current.run] = self._of_segment[current.run] = run
            self.costs += costs
            current.run = self._next()
        current.lexicon.clear()

    def begin_segment(self, shelf: ArrayFile) -> None:
        """Store the runs that are spilled from now on in `shelf`."""
        self._shelf, self._of_segment = shelf, {}

    def end_segment(self, pool: Pool, *, last: bool) -> dict[int, Run]:
        """Return the runs of the segment, all of them stored; raises WriteError.

        last: no text follows, so that words in memory can stay there.
        """
        held = [current for current in self.lexicons() if len(current.lexicon)]
        if self.spilled or not last:
            list(pool.map(self.spill, held))
            return self._of_segment
        shelf, scratch = self._shelf, self.scratch
        copies = pool.map(lambda current: write_run(current.lexicon, shelf, scratch)[0], held)
        return {current.run: run for current, run in zip(held, copies, strict=True)}

    def adopt(self, run: Run) -> int:
        """Add a run that an earlier process stored; return its number."""
        run = replace(run, numbers=self.scratch.reserve(run.types * 8))
        with self._lock:
            number = self._next()
            self.spilled[number] = run
            self.costs += _costs(run.read_edges())
        return number

    def release(self) -> None:
        """Free the lexicons in memory; no more text may be read."""
        self._threads.all.clear()

    def _new(self) -> ThreadLexicon:
        with self._lock:
            return ThreadLexicon(self._next(), Lexicon(self.limit))

    def _next(self) -> int:
        self._number += 1
        return self._number - 1


def write_run(lexicon: Lexicon, shelf: ArrayFile, scratch: Scratch) -> tuple[Run, Int64]:
    """Write a lexicon as a run; return it and (buckets) the bytes that merging each may take."""
    types = len(lexicon)
    order, cuts = np.empty(types, np.int32), np.zeros(BUCKETS + 1, np.int64)
    deal(lexicon.slots, order, cuts)
    ordered = lexicon.select(order)
    starts = np.append(ordered.entries[:, kernels.PLACE] >> kernels.LENGTH_BITS, len(ordered.arena))
    edges = np.stack((cuts, starts[cuts]), axis=1)
    run = Run(
        shelf,
        types,
        order=shelf.put(order),
        edges=shelf.put(edges),
        entries=shelf.put(ordered.entries),
        arena=shelf.put(ordered.arena),
        numbers=scratch.reserve(types * 8),
    )
    return run, _costs(edges)


@dataclass(frozen=True)
class Part:
    """A range of buckets of a run: its types [first:last) and their bytes [begin:end)."""

    run: Run
    first: int
    last: int
    begin: int
    end: int

    @classmethod
    def of(cls, run: Run, low: int, high: int) -> Part:
        """Return the part of a run in the buckets [low:high)."""
        (first, begin), (last, end) = (
            _array(run.shelf, run.edges + 16 * bucket, (2,)).tolist() for bucket in (low, high)
        )
        return cls(run, first, last, begin, end)

    def read(self) -> Lexicon:
        """Read the types."""
        start = self.run.entries + ENTRY_BYTES * self.first
        entries = _array(self.run.shelf, start, (self.last - self.first, 4))
        entries[:, kernels.PLACE] -= self.begin << kernels.LENGTH_BITS
        arena: Bytes = np.empty(self.end - self.begin, np.uint8)
        self.run.shelf.read(self.run.arena + self.begin, arena)
        return Lexicon.from_arrays(entries, arena)

    def write_numbers(self, scratch: Scratch, numbers: Int64) -> None:
        """Write the merged numbers of the types; raises WriteError."""
        scratch.write(self.run.numbers + 8 * self.first, numbers)


def numbers(scratch: Scratch, run: Run) -> Int64:
    """(types) the merged number of each provisional id of a run."""
    order: Int32 = np.empty(run.types, np.int32)
    run.shelf.read(run.order, order)
    merged = np.empty(run.types, np.int64)
    merged[order] = _array(scratch, run.numbers, (run.types,))
    return merged


def _costs(edges: Int64) -> Int64:
    """(buckets) bytes that merging each bucket of a run may take."""
    costs: Int64 = np.diff(edges, axis=0) @ np.array([TYPE_BYTES, 1])
    return costs


def _array(shelf: ArrayFile, start: int, shape: tuple[int, ...]) -> Int64:
    out = np.empty(shape, np.int64)
    shelf.read(start, out)
    return out
