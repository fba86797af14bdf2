"""The segments of a text in a checkpoint, and how they are read back.

Their checksums are verified as they are read. What the numbers mean is not validated again: a
checkpoint is private to the run that wrote it.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from wordgeom.core.errors import FormatError
from wordgeom.core.types import Array, Int64
from wordgeom.corpus.encoding.segments import Piece, Position, SavedSegment
from wordgeom.corpus.tokens.spill import Run
from wordgeom.storage.arrays import StoredArray
from wordgeom.storage.scratch import raw_bytes
from wordgeom.storage.store import Store

# Arrays of a segment: ids; the parts of its runs; (pieces × 2) run and length of each;
# (runs × 5) the numbers of `Run`.
IDS, RUNS, PIECES, TABLE = "ids", "runs", "pieces", "table"
RUN_FIELDS = ("types", "order", "edges", "entries", "arena")
_PLACES = ("blocks", "newlines", "lines", "file", "files")  # fields of `Position`
_STEP = 1 << 22  # numbers read at once


class StoredShelf:
    """An array of a store, read at any offset."""

    def __init__(self, array: StoredArray) -> None:
        self._path, self._offset = array.path, array.offset

    def put(self, array: Array) -> int:
        """Raise ValueError: the segment is finished."""
        raise ValueError("the segment is finished")

    def read(self, start: int, out: Array) -> None:
        """Fill `out` from the byte `start`. Raises FormatError for a truncated file."""
        raw, at = raw_bytes(out), self._offset + start
        try:
            number = os.open(self._path, os.O_RDONLY)  # not kept open: segments may be many
        except OSError as error:
            raise FormatError(f"cannot be read: {error.strerror}", where=self._path) from None
        try:
            while raw:
                done = os.preadv(number, [raw], at)
                if not done:
                    raise FormatError("is truncated", where=self._path)
                raw, at = raw[done:], at + done
        finally:
            os.close(number)

    def close(self) -> None:
        """Do nothing: each read opens the file."""


def read_segment(piece: Store) -> SavedSegment:
    """Return a segment. Raises FormatError for a damaged one."""
    at = piece.attributes
    position = Position(at["digest"], *(at[name] for name in _PLACES))
    runs = _runs(piece)
    ids = piece.array(IDS)
    found = [Piece(run, length) for run, length in _table(piece, PIECES, 2).tolist()]
    return SavedSegment(found, runs, StoredShelf(ids), _boundaries(ids) + len(found), position)


def attributes_of(position: Position) -> dict[str, Any]:
    """Return a position as the attributes of a store."""
    return {"digest": position.digest} | {name: getattr(position, name) for name in _PLACES}


def _table(piece: Store, name: str, columns: int) -> Int64:
    table: Int64 = piece.array(name).read().reshape(-1, columns)
    return table


def _boundaries(array: StoredArray) -> int:
    """Return how many ids are boundaries, after verifying the checksums of all."""
    blocks = range(0, array.length, _STEP)
    ids = (array.read(low, min(low + _STEP, array.length)) for low in blocks)
    return sum(int(np.count_nonzero(block < 0)) for block in ids)


def _runs(piece: Store) -> list[Run]:
    """Return the runs of a segment, after verifying their checksums."""
    array = piece.array(RUNS)
    array.verify()
    shelf = StoredShelf(array)
    return [Run(shelf, *row) for row in _table(piece, TABLE, len(RUN_FIELDS)).tolist()]
