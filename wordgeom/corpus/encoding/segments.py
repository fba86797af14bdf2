"""Segments: stretches of the text that a checkpoint can save and a later run can continue from.

A segment is a run of blocks that ends when no thread holds a block or a lexicon with new words. Its
provisional ids, and the runs that define them, then represent that stretch of the text completely.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wordgeom.core.errors import StaleError
from wordgeom.core.types import Int32
from wordgeom.corpus.tokens.spill import Run
from wordgeom.storage.id_stream import Spool
from wordgeom.storage.scratch import ArrayFile, Scratch


class Piece(NamedTuple):
    """Consecutive provisional ids of one run, and their number."""

    run: int
    length: int


@dataclass(frozen=True)
class Position:
    """How far a text was read.

    digest: of the bytes of all files so far; blocks: blocks read; newlines: since the last token,
    or since the start of the file; lines: from the first line of the last document to the last
    token; file: index of the last block's file; files: that ended since the last token.
    """

    digest: str
    blocks: int
    newlines: int
    lines: int
    file: int
    files: int


@dataclass
class Segment:
    """Provisional ids in pieces; boundaries: an upper bound on the documents that begin in them."""

    pieces: list[Piece]
    ids: Spool
    boundaries: int = 0

    def parts(self) -> Iterator[tuple[int, Int32]]:
        """Yield the run and the ids of each piece, freeing the memory of each."""
        ids = self.ids.pieces([piece.length for piece in self.pieces])
        return ((piece.run, part) for piece, part in zip(self.pieces, ids, strict=True))


@dataclass(frozen=True)
class SavedSegment:
    """A segment from a checkpoint; `run` in its pieces is an index into `runs`."""

    pieces: list[Piece]
    runs: list[Run]
    ids: ArrayFile
    boundaries: int
    position: Position


class SegmentDraft:
    """The ids and the spilled runs of a segment that is being read; here not to be saved."""

    def __init__(self, ids: ArrayFile, runs: ArrayFile) -> None:
        self.ids, self.runs = ids, runs

    def commit(self, pieces: Sequence[Piece], runs: Mapping[int, Run], position: Position) -> None:
        """Add the segment to the checkpoint; all ids and runs are written."""

    def close(self) -> None:
        """Free the storage; remove a segment that was not committed."""
        self.ids.close()
        self.runs.close()


class CorpusCheckpoint:
    """Saves a text segment by segment while it is read, for a later run; this one saves nothing.

    directory: of scratch files for ids and runs, None for the system's; room: bytes of ids that may
    stay in memory between checkpoints.
    """

    def __init__(self, directory: str | None, room: int) -> None:
        self._directory, self.room = directory, room

    def saved_segments(self) -> list[SavedSegment]:
        """Return the segments of an earlier run, in order."""
        return []

    def begin(self) -> SegmentDraft:
        """Return the storage for the next segment."""
        return SegmentDraft(Scratch(self._directory), Scratch(self._directory))

    def is_worth_saving(self, ids: int) -> bool:
        """Return whether a segment of this many ids should be saved."""
        return False

    def due(self) -> bool:
        """Return whether it is time for the next checkpoint."""
        return False

    def text_changed(self) -> StaleError:
        """Return the error for saved segments of a text that has changed."""
        return StaleError("the text has changed")
