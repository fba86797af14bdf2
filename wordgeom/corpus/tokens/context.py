"""What reading a corpus works with: memory, scratch, threads."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress
from wordgeom.storage.id_stream import Spool
from wordgeom.storage.scratch import Scratch

_IDS_SHARE = 4  # of the memory, for each stream of ids
_WORDS_SHARE = 2  # of the memory, for the words that may get a row


@dataclass(frozen=True)
class Means:
    """memory: bytes of the whole program; folder: for scratch files; a pool, its progress."""

    memory: int
    folder: str | None
    pool: Pool
    progress: Progress

    @property
    def words_room(self) -> int:
        """Bytes for the words that may get a row."""
        return self.memory // _WORDS_SHARE

    @property
    def ids_room(self) -> int:
        """Bytes of a stream of ids that is held in memory."""
        return self.memory // _IDS_SHARE

    def spool(self) -> Spool:
        """Return an empty stream of ids, which goes to scratch where it is long."""
        return Spool(self.ids_room, Scratch(self.folder))
