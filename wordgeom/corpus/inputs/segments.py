"""A text as it is read: in segments, stretches of it that can be kept and gone on from.

A segment is a run of blocks after which no block is under way and no thread holds a word: its
provisional ids, and the runs that they mean something in, then stand for that stretch of the text.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from wordgeom.core.errors import StaleError
from wordgeom.core.types import Int32
from wordgeom.corpus.tokens.spill import Run
from wordgeom.storage.id_stream import Spool
from wordgeom.storage.scratch import ArrayFile, Scratch


class Piece(NamedTuple):
    """Ids of one run in the provisional stream: how many."""

    run: int
    length: int


@dataclass(frozen=True)
class Mark:
    """How far a text was read.

    digest: of the files' bytes so far; blocks: how many; newlines: since the last token or since
    the file began; lines: from the last document's first to the last token's; file: the last
    block's, from 0; files: that ended since the last token.
    """

    digest: str
    blocks: int
    newlines: int
    lines: int
    file: int
    files: int


@dataclass
class Segment:
    """Provisional ids, by pieces; boundaries: at most so many documents begin in them."""

    pieces: list[Piece]
    ids: Spool
    boundaries: int = 0

    def parts(self) -> Iterator[tuple[int, Int32]]:
        """Yield each piece's run and ids, letting go of what is in memory."""
        ids = self.ids.pieces([piece.length for piece in self.pieces])
        return ((piece.run, part) for piece, part in zip(self.pieces, ids, strict=True))


@dataclass(frozen=True)
class Found:
    """A segment that was kept: its pieces with the places in `runs` of their runs."""

    pieces: list[Piece]
    runs: list[Run]
    ids: ArrayFile
    boundaries: int
    mark: Mark


class Draft(Protocol):
    """Where a segment that may be kept is written: its ids, and runs as they are spilled."""

    @property
    def ids(self) -> ArrayFile:
        """Where ids go that are not held in memory."""

    @property
    def runs(self) -> ArrayFile:
        """Where runs go."""

    def commit(self, pieces: Sequence[Piece], runs: Mapping[int, Run], mark: Mark) -> None:
        """Keep it: all ids and runs are there."""

    def close(self) -> None:
        """Let go of it; what was not kept is removed."""


class Keeper(Protocol):
    """What keeps a text as it is read, for a later run."""

    @property
    def room(self) -> int:
        """Bytes of ids that may wait in memory until it is time to keep them."""

    def found(self) -> list[Found]:
        """Return the segments that an earlier run kept, checked, from the first on."""

    def begin(self) -> Draft:
        """Return where the next segment is written."""

    def worth(self, ids: int) -> bool:
        """Tell whether so many ids are worth keeping."""

    def due(self) -> bool:
        """Tell whether it is time to end a segment."""

    def other_text(self) -> StaleError:
        """Return the error for kept segments of another text than is read."""


class Unkept:
    """Keeps nothing (Keeper): ids and runs go to scratch."""

    def __init__(self, folder: str | None, room: int) -> None:
        self._folder, self.room = folder, room

    def found(self) -> list[Found]:
        """Return none."""
        return []

    def begin(self) -> Draft:
        """Return scratch files."""
        return _ScratchDraft(Scratch(self._folder), Scratch(self._folder))

    def worth(self, ids: int) -> bool:
        """Return False."""
        return False

    def due(self) -> bool:
        """Return False."""
        return False

    def other_text(self) -> StaleError:
        """Return an error that nobody meets, there being no segments."""
        return StaleError("holds another text")


@dataclass(frozen=True)
class _ScratchDraft:
    ids: Scratch
    runs: Scratch

    def commit(self, pieces: Sequence[Piece], runs: Mapping[int, Run], mark: Mark) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Give the room back."""
        self.ids.close()
        self.runs.close()
