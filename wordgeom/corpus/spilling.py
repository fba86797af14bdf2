"""A lexicon for each thread that is spilled and emptied whenever it is full.

What a thread meets between two spills is a run; provisional ids mean something in their run only.
A spilled run lies on scratch with its types in the order of buckets, a bucket being the upper bits
of a type's hash, so that any range of buckets can be joined over all runs and nothing else be held
(joining.py). Nothing is pruned on the way: counts are exact, and which runs there were cannot show.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass

import numpy as np

from wordgeom._files import Closing
from wordgeom.corpus import kernels
from wordgeom.corpus.lexicon import Lexicon
from wordgeom.corpus.scratch import Scratch
from wordgeom.corpus.spill_kernels import BUCKET_BITS, deal
from wordgeom.pool import PerThread
from wordgeom.types import Bytes, Int32, Int64

BUCKETS = 1 << BUCKET_BITS
TYPE_BYTES = 80  # what a type takes while a range of buckets is joined, its text aside
_SHARE = 8  # of the memory, for the lexicons of all threads
_ENTRY_BYTES = 32


@dataclass(frozen=True)
class Run:
    """A run on scratch: how many types, and where its parts lie.

    order (types) int32: the provisional ids by bucket; edges (buckets + 1, 2) int64: the first type
    and byte of each bucket; numbers (types) int64: room for what the types are joined to.
    """

    types: int
    order: int
    edges: int
    entries: int
    arena: int
    numbers: int


@dataclass
class Current:
    """A thread's lexicon and the run that its ids belong to."""

    run: int
    lexicon: Lexicon


class Runs(Closing):
    """The runs of all threads; memory: bytes that the program may take."""

    def __init__(self, memory: int, threads: int, folder: str | None) -> None:
        self.room = memory // _SHARE // threads
        self.scratch = Scratch(folder)
        self.spilled: dict[int, Run] = {}
        self.costs = np.zeros(BUCKETS, np.int64)  # bytes that joining a bucket may take
        self._lock = threading.Lock()
        self._begun = 0
        self._threads = PerThread(self._new)

    def close(self) -> None:
        """Let go of all runs."""
        self.release()
        self.spilled.clear()
        self.scratch.close()

    def mine(self) -> Current:
        """Return the calling thread's lexicon."""
        return self._threads.mine()[1]

    def held(self) -> list[Current]:
        """Return the lexicons that are in memory."""
        return self._threads.all

    def spill(self, current: Current) -> None:
        """Put a lexicon on scratch and empty it for the next run; raises WriteError."""
        run, costs = put(current.lexicon, self.scratch)
        with self._lock:
            self.spilled[current.run] = run
            self.costs += costs
            current.run = self._next()
        current.lexicon.clear()

    def release(self) -> None:
        """Let go of all lexicons in memory; no more is read after this."""
        self._threads.all.clear()

    def _new(self) -> Current:
        with self._lock:
            return Current(self._next(), Lexicon(self.room))

    def _next(self) -> int:
        self._begun += 1
        return self._begun - 1


def put(lexicon: Lexicon, scratch: Scratch) -> tuple[Run, Int64]:
    """Write a lexicon as a run; returns with it (buckets) what joining each bucket may cost."""
    types = len(lexicon)
    order, cuts = np.empty(types, np.int32), np.zeros(BUCKETS + 1, np.int64)
    deal(lexicon.slots, order, cuts)
    dealt = lexicon.select(order)
    starts = np.append(dealt.entries[:, kernels.PLACE] >> kernels.LENGTH_BITS, len(dealt.arena))
    edges = np.stack((cuts, starts[cuts]), axis=1)
    run = Run(
        types,
        order=scratch.put(order),
        edges=scratch.put(edges),
        entries=scratch.put(dealt.entries),
        arena=scratch.put(dealt.arena),
        numbers=scratch.reserve(types * 8),
    )
    return run, np.diff(edges, axis=0) @ np.array([TYPE_BYTES, 1])


@dataclass(frozen=True)
class Part:
    """The types of a run in a range of buckets: [first:last) of them, [begin:end) of the bytes."""

    run: Run
    first: int
    last: int
    begin: int
    end: int

    @classmethod
    def of(cls, scratch: Scratch, run: Run, low: int, high: int) -> Part:
        """Return where the types of the buckets [low:high) lie."""
        (first, begin), (last, end) = (
            _array(scratch, run.edges + 16 * bucket, (2,)).tolist() for bucket in (low, high)
        )
        return cls(run, first, last, begin, end)

    def read(self, scratch: Scratch) -> Lexicon:
        """Return the types."""
        start = self.run.entries + _ENTRY_BYTES * self.first
        entries = _array(scratch, start, (self.last - self.first, 4))
        entries[:, kernels.PLACE] -= self.begin << kernels.LENGTH_BITS
        arena: Bytes = np.empty(self.end - self.begin, np.uint8)
        scratch.read(self.run.arena + self.begin, arena)
        return Lexicon.packed(entries, arena)

    def note(self, scratch: Scratch, numbers: Int64) -> None:
        """Write what the types were joined to; raises WriteError."""
        scratch.write(self.run.numbers + 8 * self.first, numbers)


def numbers(scratch: Scratch, run: Run) -> Int64:
    """(types) what each provisional id of a run was joined to."""
    order: Int32 = np.empty(run.types, np.int32)
    scratch.read(run.order, order)
    found = np.empty(run.types, np.int64)
    found[order] = _array(scratch, run.numbers, (run.types,))
    return found


def _array(scratch: Scratch, start: int, shape: tuple[int, ...]) -> Int64:
    out = np.empty(shape, np.int64)
    scratch.read(start, out)
    return out
