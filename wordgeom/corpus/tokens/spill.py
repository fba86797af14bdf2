"""A lexicon for each thread that is spilled and emptied whenever it is full.

What a thread meets between two spills is a run; provisional ids mean something in their run only.
A spilled run lies on a shelf with its types in the order of buckets, a bucket being the upper bits
of a type's hash, so that any range of buckets can be joined over all runs and nothing else be held
(joining.py). Nothing is pruned on the way: counts are exact, and which runs there were cannot show.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.types import Bytes, Int32, Int64
from wordgeom.corpus.tokens import kernels
from wordgeom.corpus.tokens.lexicon import Lexicon
from wordgeom.corpus.tokens.spill_kernels import BUCKET_BITS, deal
from wordgeom.runtime.pool import PerThread, Pool
from wordgeom.storage.files import Closing
from wordgeom.storage.scratch import ArrayFile, Scratch

BUCKETS = 1 << BUCKET_BITS
TYPE_BYTES = 80  # what a type takes while a range of buckets is joined, its text aside
_SHARE = 8  # of the memory, for the lexicons of all threads
_MOST = 1 << 27  # bytes of a lexicon: spilling it then takes .3 s, which Ctrl-C may wait for
ENTRY_BYTES = 32


@dataclass(frozen=True)
class Run:
    """A run on a shelf: how many types, and where its parts lie.

    order (types) int32: the provisional ids by bucket; edges (buckets + 1, 2) int64: the first type
    and byte of each bucket; numbers (types) int64, on scratch: room for what the types are joined
    to.
    """

    shelf: ArrayFile
    types: int
    order: int
    edges: int
    entries: int
    arena: int
    numbers: int = -1

    def read_edges(self) -> Int64:
        """(buckets + 1, 2) the first type and byte of each bucket."""
        return _array(self.shelf, self.edges, (BUCKETS + 1, 2))


@dataclass
class Current:
    """A thread's lexicon and the run that its ids belong to."""

    run: int
    lexicon: Lexicon


class Runs(Closing):
    """The runs of all threads; memory: bytes that the program may take."""

    def __init__(self, memory: int, threads: int, folder: str | None) -> None:
        self.room = min(memory // _SHARE // threads, _MOST)
        self.scratch = Scratch(folder)
        self.spilled: dict[int, Run] = {}
        self._shelf: ArrayFile = self.scratch
        self._of_segment: dict[int, Run] = {}
        self.costs = np.zeros(BUCKETS, np.int64)  # bytes that joining a bucket may take
        self._lock = threading.Lock()
        self._begun = 0
        self._threads = PerThread(self._new)

    def close(self) -> None:
        """Let go of all runs."""
        self.release()
        self.spilled.clear()
        self.scratch.close()

    def own(self) -> Current:
        """Return the calling thread's lexicon."""
        return self._threads.own()[1]

    def held(self) -> list[Current]:
        """Return the lexicons that are in memory."""
        return self._threads.all

    def spill(self, current: Current) -> None:
        """Put a lexicon on the shelf and empty it for the next run; raises WriteError."""
        run, costs = put(current.lexicon, self._shelf, self.scratch)
        with self._lock:
            self.spilled[current.run] = self._of_segment[current.run] = run
            self.costs += costs
            current.run = self._next()
        current.lexicon.clear()

    def begin_segment(self, shelf: ArrayFile) -> None:
        """Let the runs that are spilled from now on go to a shelf."""
        self._shelf, self._of_segment = shelf, {}

    def end_segment(self, pool: Pool, *, last: bool) -> dict[int, Run]:
        """Return all runs since the segment began, none in memory alone; raises WriteError.

        last: nothing will be read after it, so that words in memory can stay there.
        """
        held = [current for current in self.held() if len(current.lexicon)]
        if self.spilled or not last:
            list(pool.map(self.spill, held))
            return self._of_segment
        shelf, scratch = self._shelf, self.scratch
        copies = pool.map(lambda current: put(current.lexicon, shelf, scratch)[0], held)
        return {current.run: run for current, run in zip(held, copies, strict=True)}

    def adopt(self, run: Run) -> int:
        """Take a run that was spilled by another process; return its number."""
        run = replace(run, numbers=self.scratch.reserve(run.types * 8))
        with self._lock:
            number = self._next()
            self.spilled[number] = run
            self.costs += _costs(run.read_edges())
        return number

    def release(self) -> None:
        """Let go of all lexicons in memory; no more is read after this."""
        self._threads.all.clear()

    def _new(self) -> Current:
        with self._lock:
            return Current(self._next(), Lexicon(self.room))

    def _next(self) -> int:
        self._begun += 1
        return self._begun - 1


def put(lexicon: Lexicon, shelf: ArrayFile, scratch: Scratch) -> tuple[Run, Int64]:
    """Write a lexicon as a run; returns with it (buckets) what joining each bucket may cost."""
    types = len(lexicon)
    order, cuts = np.empty(types, np.int32), np.zeros(BUCKETS + 1, np.int64)
    deal(lexicon.slots, order, cuts)
    dealt = lexicon.select(order)
    starts = np.append(dealt.entries[:, kernels.PLACE] >> kernels.LENGTH_BITS, len(dealt.arena))
    edges = np.stack((cuts, starts[cuts]), axis=1)
    run = Run(
        shelf,
        types,
        order=shelf.put(order),
        edges=shelf.put(edges),
        entries=shelf.put(dealt.entries),
        arena=shelf.put(dealt.arena),
        numbers=scratch.reserve(types * 8),
    )
    return run, _costs(edges)


@dataclass(frozen=True)
class Part:
    """The types of a run in a range of buckets: [first:last) of them, [begin:end) of the bytes."""

    run: Run
    first: int
    last: int
    begin: int
    end: int

    @classmethod
    def of(cls, run: Run, low: int, high: int) -> Part:
        """Return where the types of the buckets [low:high) lie."""
        (first, begin), (last, end) = (
            _array(run.shelf, run.edges + 16 * bucket, (2,)).tolist() for bucket in (low, high)
        )
        return cls(run, first, last, begin, end)

    def read(self) -> Lexicon:
        """Return the types."""
        start = self.run.entries + ENTRY_BYTES * self.first
        entries = _array(self.run.shelf, start, (self.last - self.first, 4))
        entries[:, kernels.PLACE] -= self.begin << kernels.LENGTH_BITS
        arena: Bytes = np.empty(self.end - self.begin, np.uint8)
        self.run.shelf.read(self.run.arena + self.begin, arena)
        return Lexicon.packed(entries, arena)

    def note(self, scratch: Scratch, numbers: Int64) -> None:
        """Write what the types were joined to; raises WriteError."""
        scratch.write(self.run.numbers + 8 * self.first, numbers)


def numbers(scratch: Scratch, run: Run) -> Int64:
    """(types) what each provisional id of a run was joined to."""
    order: Int32 = np.empty(run.types, np.int32)
    run.shelf.read(run.order, order)
    found = np.empty(run.types, np.int64)
    found[order] = _array(scratch, run.numbers, (run.types,))
    return found


def _costs(edges: Int64) -> Int64:
    """(buckets) bytes that joining each bucket of a run may take."""
    costs: Int64 = np.diff(edges, axis=0) @ np.array([TYPE_BYTES, 1])
    return costs


def _array(shelf: ArrayFile, start: int, shape: tuple[int, ...]) -> Int64:
    out = np.empty(shape, np.int64)
    shelf.read(start, out)
    return out
