"""The checkpoint of a text that is still being read, segment by segment."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from wordgeom.checkpoint.corpus_reader import (
    IDS,
    PIECES,
    RUN_FIELDS,
    RUNS,
    TABLE,
    StoredShelf,
    attributes_of,
    read_segment,
)
from wordgeom.checkpoint.state import State
from wordgeom.core.errors import StaleError
from wordgeom.core.types import Array
from wordgeom.corpus.encoding.segments import (
    CorpusCheckpoint,
    Piece,
    Position,
    SavedSegment,
    SegmentDraft,
)
from wordgeom.corpus.tokens.spill import Run
from wordgeom.storage.arrays import ArrayWriter, marked_array
from wordgeom.storage.scratch import raw_bytes
from wordgeom.storage.store import StoreWriter

WORTH = 1 << 24  # ids: reading fewer again takes a few seconds
ROOM = 8 * WORTH  # bytes of ids in memory between checkpoints; writing so many takes about .1 s
_NAME = "text-"
_TYPES: dict[str, np.dtype[Any]] = {IDS: np.dtype(np.int32), RUNS: np.dtype(np.uint8)}


class CorpusWriter(CorpusCheckpoint):
    """Saves a text while it is read, one piece a segment."""

    def __init__(self, state: State) -> None:
        super().__init__(None, ROOM)
        self._state, self._number = state, 0

    def saved_segments(self) -> list[SavedSegment]:
        """Return the segments of an interrupted run. Raises FormatError for a damaged one."""
        found = []
        while (piece := self._state.find(f"{_NAME}{self._number}")) is not None:
            found.append(read_segment(piece))
            self._number += 1
        return found

    def begin(self) -> SegmentWriter:
        """Return the writer of the next segment."""
        self._number += 1
        return SegmentWriter(self._state, f"{_NAME}{self._number - 1}")

    def is_worth_saving(self, ids: int) -> bool:
        """Return whether so many ids are worth saving."""
        return ids >= WORTH

    def due(self) -> bool:
        """Return whether a checkpoint is due."""
        return self._state.due()

    def text_changed(self) -> StaleError:
        """Return the error for segments of another text."""
        return self._state.stale("over a different text")


def forget_text(state: State) -> None:
    """Remove the segments: the text is saved with its final ids."""
    state.discard(_NAME)


class SegmentWriter(SegmentDraft):
    """A segment that is being written; its store is created lazily."""

    def __init__(self, state: State, name: str) -> None:
        self._state, self._name = state, name
        self._writer: StoreWriter | None = None
        self.arrays: dict[str, ArrayWriter] = {}
        self.places: dict[str, StoredShelf] = {}
        self.lock = threading.RLock()
        self._closed = False
        super().__init__(_Shelf(self, IDS), _Shelf(self, RUNS))

    def commit(self, pieces: Sequence[Piece], runs: Mapping[int, Run], position: Position) -> None:
        """Commit the segment."""
        numbers = {run: k for k, run in enumerate(runs)}
        table = [[getattr(run, name) for name in RUN_FIELDS] for run in runs.values()]
        with self.lock:
            writer = self.open()
            rows = [[numbers[piece.run], piece.length] for piece in pieces]
            writer.array(PIECES, np.int64).write(np.array(rows, np.int64).ravel())
            writer.array(TABLE, np.int64).write(np.array(table, np.int64).ravel())
            writer.commit(attributes_of(position), {})
            self.close()
        self._state.saved()

    def close(self) -> None:
        """Close the store; an uncommitted segment is removed."""
        with self.lock:  # a late thread finds it closed
            self._closed = True
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.__exit__(None, None, None)

    def open(self) -> StoreWriter:
        """Return the writer of the store, which is created at the first call."""
        if self._closed:
            raise ValueError("the segment is finished")
        if self._writer is None:
            writer = self._state.writer(self._name)
            writer.__enter__()
            self._writer = writer
            for name, dtype in _TYPES.items():
                self.arrays[name] = out = writer.array(name, dtype)
                self.places[name] = StoredShelf(marked_array(writer.path, out.entry()))
        return self._writer


class _Shelf:
    """One of the arrays of a segment that is being written."""

    def __init__(self, segment: SegmentWriter, name: str) -> None:
        self._segment, self._name = segment, name

    def put(self, array: Array) -> int:
        """Append an array and return its offset. Raises WriteError."""
        dtype = _TYPES[self._name]
        with self._segment.lock:
            self._segment.open()
            out = self._segment.arrays[self._name]
            start = out.length
            out.write(np.frombuffer(raw_bytes(array), dtype))
        return start * dtype.itemsize

    def read(self, start: int, out: Array) -> None:
        """Fill `out` from the offset `start`."""
        self._segment.places[self._name].read(start, out)

    def close(self) -> None:
        """Do nothing: the segment is closed separately."""
