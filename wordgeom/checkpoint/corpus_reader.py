"""Segments of a text in stores: how they lie there, and what is looked at before they are used.

Kernels take ids, orders and edges for places, so that none is believed, whatever its checksum.
"""

from __future__ import annotations

import os
from itertools import pairwise
from typing import Any

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Array, Int32, Int64
from wordgeom.corpus.encoding.segments import Piece, Position, SavedSegment
from wordgeom.corpus.tokens.kernels import (
    COUNT,
    FILE_END,
    LENGTH_BITS,
    LENGTH_MASK,
    MAX_TOKEN,
    PLACE,
)
from wordgeom.corpus.tokens.spill import BUCKETS, ENTRY_BYTES, Run
from wordgeom.storage.scratch import raw_bytes
from wordgeom.storage.store import Store, StoredArray

# Arrays of a segment: ids; the parts of its runs; (pieces × 2) run and length of each;
# (runs × 5) the numbers of `Run`.
IDS, RUNS, PIECES, TABLE = "ids", "runs", "pieces", "table"
RUN_FIELDS = ("types", "order", "edges", "entries", "arena")
_PLACES = ("blocks", "newlines", "lines", "file", "files")  # numbers of `Position`
_STEP = 1 << 22  # numbers looked at at once
_WORDS = 1 << 16


class StoredShelf:
    """An array of a store as a shelf to read from."""

    def __init__(self, array: StoredArray) -> None:
        self._path, self._offset = array.path, array.offset

    def put(self, array: Array) -> int:
        """Raise ValueError."""
        raise ValueError("the segment is finished")

    def read(self, start: int, out: Array) -> None:
        """Fill `out` with what lies at the byte `start`. Raises FormatError where there is less."""
        raw, at = raw_bytes(out), self._offset + start
        try:
            number = os.open(self._path, os.O_RDONLY)  # anew: there may be any number of segments
        except OSError as error:
            raise FormatError("cannot be read", where=self._path, found=error.strerror) from None
        try:
            while raw:
                done = os.preadv(number, [raw], at)
                if not done:
                    raise FormatError("was cut", where=self._path)
                raw, at = raw[done:], at + done
        finally:
            os.close(number)

    def close(self) -> None:
        """Let go of nothing: each read opens the file."""


def read_segment(piece: Store) -> SavedSegment:
    """Return a segment, all of it checked. Raises FormatError."""
    position = _position(piece)
    runs = _runs(piece)
    ids, pieces = piece.array(IDS), _table(piece, PIECES, 2)
    types = np.array([run.types for run in runs], np.int64)
    if (
        ids.dtype != np.int32
        or (pieces < [0, 1]).any()
        or (pieces[:, 0] >= len(runs)).any()
        or sum(pieces[:, 1].tolist()) != ids.length
    ):
        raise edited(piece)
    boundaries = _check_ids(ids, pieces[:, 1], types[pieces[:, 0]])
    found = [Piece(run, length) for run, length in pieces.tolist()]
    return SavedSegment(found, runs, StoredShelf(ids), boundaries + len(found), position)


def edited(piece: Store) -> FormatError:
    """Return the error for a state whose parts do not fit together."""
    return FormatError("its state was edited", where=piece.path)


def _position(piece: Store) -> Position:
    at = piece.attributes
    digest, numbers = at.get("digest"), [n for name in _PLACES if type(n := at.get(name)) is int]
    if isinstance(digest, str) and len(numbers) == len(_PLACES) and min(numbers) >= 0:
        return Position(digest, *numbers)
    raise edited(piece)


def _table(piece: Store, name: str, columns: int) -> Int64:
    array = piece.array(name)
    if array.dtype != np.int64 or array.length % columns:
        raise edited(piece)
    return array.read().reshape(-1, columns)


def _check_ids(array: StoredArray, lengths: Int64, types: Int64) -> int:
    """Return how many boundaries are among ids that lie in pieces, each below its `types`."""
    ends = np.cumsum(lengths)
    boundaries = 0
    for low in range(0, array.length, _STEP):
        ids: Int32 = array.read(low, min(low + _STEP, array.length))
        first = int(np.searchsorted(ends, low, "right"))
        last = int(np.searchsorted(ends, low + len(ids), "left")) + 1
        cuts = np.maximum(ends[first:last] - lengths[first:last] - low, 0)
        most = np.maximum.reduceat(ids, cuts)
        if int(ids.min()) < FILE_END or bool((most >= types[first:last]).any()):
            raise FormatError("an id is out of range", where=array.path)
        boundaries += int(np.count_nonzero(ids < 0))
    return boundaries


def _runs(piece: Store) -> list[Run]:
    """Return the runs of a segment, each checked."""
    array = piece.array(RUNS)
    if array.dtype != np.uint8:
        raise edited(piece)
    for start in range(0, array.length, _STEP):  # for their checksums
        array.read(start, min(start + _STEP, array.length))
    shelf, size = StoredShelf(array), array.length
    runs = [Run(shelf, *row) for row in _table(piece, TABLE, len(RUN_FIELDS)).tolist()]
    for run in runs:
        if not _run_is_sound(run, size):
            raise edited(piece)
    return runs


def _run_is_sound(run: Run, size: int) -> bool:
    """Tell whether a run's parts lie within `size` bytes and fit together."""
    edge_bytes = 16 * (BUCKETS + 1)
    parts = [(run.order, 4 * run.types), (run.edges, edge_bytes)]
    parts.append((run.entries, ENTRY_BYTES * run.types))
    if run.types < 0 or not all(0 <= start <= start + n <= size for start, n in parts):
        return False
    edges = run.read_edges()
    ends = edges[-1].tolist()
    if edges[0].any() or (np.diff(edges, axis=0) < 0).any() or ends[0] != run.types:
        return False
    if not 0 <= run.arena <= run.arena + ends[1] <= size:
        return False
    entries = _read(run, run.entries, np.empty((run.types, 4), np.int64))
    return (
        _is_order(_read(run, run.order, np.empty(run.types, np.int32)))
        and _are_entries(entries, edges)
        and _are_words(_read(run, run.arena, np.empty(ends[1], np.uint8)), entries)
    )


def _is_order(order: Array) -> bool:
    """Tell whether an array holds each of its places once."""
    seen = np.zeros(len(order), bool)
    if len(order) and 0 <= int(order.min()) <= int(order.max()) < len(order):
        seen[order] = True
    return bool(seen.all())


def _are_entries(entries: Array, edges: Int64) -> bool:
    """Tell whether types stand one behind the other, buckets where the edges say."""
    lengths = entries[:, PLACE] & LENGTH_MASK
    starts = np.concatenate(([0], np.cumsum(lengths)))
    return bool(
        np.array_equal(entries[:, PLACE] >> LENGTH_BITS, starts[:-1])
        and np.array_equal(starts[edges[:, 0]], edges[:, 1])
        and ((lengths > 0) & (lengths <= MAX_TOKEN)).all()
        and (entries[:, COUNT] >= 0).all()
    )


def _are_words(arena: Array, entries: Array) -> bool:
    """Tell whether the bytes of each type are UTF-8."""
    starts = entries[:, PLACE] >> LENGTH_BITS
    if (arena[starts] & 0xC0 == 0x80).any():  # begins within a character
        return False
    cuts = [*starts[::_WORDS].tolist(), len(arena)]
    try:
        for begin, end in pairwise(cuts):
            arena[begin:end].tobytes().decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _read(run: Run, start: int, out: Array) -> Array:
    run.shelf.read(start, out)
    return out


def attributes_of(position: Position) -> dict[str, Any]:
    """Return a position as a store holds it."""
    return {"digest": position.digest} | {name: getattr(position, name) for name in _PLACES}
