"""Later blocks whose entries were gathered together, solved here or on a cluster."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from wordgeom.core.types import Float64, Int64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.device import get_ops
from wordgeom.methods.dc.blocks import Core, Task, realise
from wordgeom.methods.dc.gather import Entries
from wordgeom.runtime.block_map import map_blocks
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.scheduler import Result, Shared


class _Piece(NamedTuple):
    """The entries [begin:end) of a block, and the number of its own words."""

    begin: int
    end: int
    own: int


@dataclass(frozen=True)
class Common:
    """What all later blocks have in common: overlap, anchors and shared of Task, K, and the core.

    core: None for blocks that are realised on their own.
    """

    overlap: int
    anchors: int
    shared: Float64
    K: int
    core: Core | None

    def task(self, entries: Entries, own: int) -> Task:
        """Return the task of a block."""
        return Task(entries, own, self.overlap, self.anchors, self.shared)


@dataclass(frozen=True)
class _Group:
    """Entries and Common as the spec of a map. core: solver and gram, none for no core."""

    entries: tuple[Shared, ...]
    overlap: int
    anchors: int
    shared: Shared
    K: int
    core: tuple[Shared, ...]
    rank: int

    def task(self, piece: _Piece) -> Task:
        """Return the task of a block."""
        entries = Entries(*(array.open() for array in self.entries))
        part = entries.part(piece.begin, piece.end)
        return Task(part, piece.own, self.overlap, self.anchors, self.shared.open())


def solve_group(
    entries: Entries, begins: Int64, own: Sequence[int], given: Common, context: Context, name: str
) -> Iterator[Result]:
    """Yield the vectors of blocks, as `realise` and Core.solve return them.

    begins (blocks + 1): where the entries of each begin; own: the number of its own words; name: of
    the results in the checkpoint.
    """
    pieces = [_Piece(*ends, n) for ends, n in zip(pairwise(begins.tolist()), own, strict=True)]
    core, share = given.core, context.scheduler.share
    if core is not None and context.cluster is None:
        # On the calling thread, as the device and the pool are its own.
        tasks = [given.task(entries.part(piece.begin, piece.end), piece.own) for piece in pieces]
        yield from map_blocks(core.solve, tasks, context.ops, context, name, serial=True)
        return
    arrays = tuple(share(array) for array in (entries.rows, entries.columns, entries.values))
    parts = () if core is None else (share(core.solver), share(core.gram))
    rank, shared = 0 if core is None else core.rank, share(given.shared)
    group = _Group(arrays, given.overlap, given.anchors, shared, given.K, parts, rank)
    solve = _realise if core is None else _solve
    yield from map_blocks(solve, pieces, group, context, name, portable=True)
    context.scheduler.release(*arrays, *parts, shared)


def _realise(piece: _Piece, group: _Group) -> Result:
    with one_thread(scipy=True):
        return realise(group.task(piece), group.K)


def _solve(piece: _Piece, group: _Group) -> Result:
    solver, gram = (array.open() for array in group.core)
    with one_thread(), Pool(1) as pool:
        return Core(solver, gram, group.rank).solve(group.task(piece), get_ops("cpu", pool))
