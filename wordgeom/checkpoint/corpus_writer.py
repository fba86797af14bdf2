"""A text that is still being read, kept segment by segment for a later run."""

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
from wordgeom.checkpoint.state import Kept
from wordgeom.core.errors import StaleError
from wordgeom.core.types import Array
from wordgeom.corpus.encoding.segments import Piece, Position, SavedSegment
from wordgeom.corpus.tokens.spill import Run
from wordgeom.storage.scratch import raw_bytes
from wordgeom.storage.store import ArrayWriter, StoreWriter, marked_array

WORTH = 1 << 24  # ids: fewer are read again sooner than they are asked for
_NAME = "text-"
_TYPES: dict[str, np.dtype[Any]] = {IDS: np.dtype(np.int32), RUNS: np.dtype(np.uint8)}


class KeptText:
    """Keeps a text as it is read (CorpusCheckpoint): a piece for each segment."""

    def __init__(self, kept: Kept) -> None:
        self._kept, self._number = kept, 0

    @property
    def room(self) -> int:
        """Bytes of ids that may wait in memory: so many are written in .1 s."""
        return 8 * WORTH

    def saved_segments(self) -> list[SavedSegment]:
        """Return the segments that an earlier run kept, checked. Raises FormatError."""
        found = []
        while (piece := self._kept.find(f"{_NAME}{self._number}")) is not None:
            found.append(read_segment(piece))
            self._number += 1
        return found

    def begin(self) -> KeptSegment:
        """Return where the next segment is written."""
        self._number += 1
        return KeptSegment(self._kept, f"{_NAME}{self._number - 1}")

    def is_worth_saving(self, ids: int) -> bool:
        """Tell whether so many ids are worth keeping."""
        return ids >= WORTH

    def due(self) -> bool:
        """Tell whether the last state is old enough for a new one."""
        return self._kept.due()

    def text_changed(self) -> StaleError:
        """Return the error for segments of another text."""
        return self._kept.stale("made from other text")


def forget_text(kept: Kept) -> None:
    """Remove the segments: the text is kept whole, in its final ids."""
    kept.discard(_NAME)


class KeptSegment:
    """A segment that is being written (SegmentDraft), in a store made at first need."""

    def __init__(self, kept: Kept, name: str) -> None:
        self._kept, self._name = kept, name
        self._writer: StoreWriter | None = None
        self._arrays: dict[str, ArrayWriter] = {}
        self._places: dict[str, StoredShelf] = {}
        self._lock = threading.RLock()
        self._closed = False
        self.ids, self.runs = _Shelf(self, IDS), _Shelf(self, RUNS)

    def put(self, name: str, array: Array) -> int:
        """Write behind what an array of the store holds; return where. Raises WriteError."""
        with self._lock:
            self._open()
            out = self._arrays[name]
            start = out.length
            out.write(np.frombuffer(raw_bytes(array), _TYPES[name]))
        return start * _TYPES[name].itemsize

    def read(self, name: str, start: int, out: Array) -> None:
        """Read what was put."""
        self._places[name].read(start, out)

    def commit(self, pieces: Sequence[Piece], runs: Mapping[int, Run], position: Position) -> None:
        """Keep the segment."""
        numbers = {run: k for k, run in enumerate(runs)}
        table = [[getattr(run, name) for name in RUN_FIELDS] for run in runs.values()]
        with self._lock:
            writer = self._open()
            rows = [[numbers[piece.run], piece.length] for piece in pieces]
            writer.array(PIECES, np.int64).write(np.array(rows, np.int64).ravel())
            writer.array(TABLE, np.int64).write(np.array(table, np.int64).ravel())
            writer.commit(attributes_of(position), {})
            self.close()
        self._kept.saved()

    def close(self) -> None:
        """Let go of the store; what was not kept is removed."""
        with self._lock:  # a thread that is late finds it closed
            self._closed = True
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.__exit__(None, None, None)

    def _open(self) -> StoreWriter:
        if self._closed:
            raise ValueError("the segment is finished")
        if self._writer is None:
            writer = self._kept.writer(self._name)
            writer.__enter__()
            self._writer = writer
            for name, dtype in _TYPES.items():
                self._arrays[name] = out = writer.array(name, dtype)
                self._places[name] = StoredShelf(marked_array(writer.path, out.entry()))
        return self._writer


class _Shelf:
    """One of the arrays of a segment that is being written."""

    def __init__(self, segment: KeptSegment, name: str) -> None:
        self._segment, self._name = segment, name

    def put(self, array: Array) -> int:
        """Write an array behind all others and return where. Raises WriteError."""
        return self._segment.put(self._name, array)

    def read(self, start: int, out: Array) -> None:
        """Fill `out` with what lies at `start`."""
        self._segment.read(self._name, start, out)

    def close(self) -> None:
        """Let go of nothing: the segment is closed by itself."""
