"""What reading a corpus works with: memory, scratch, threads."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.corpus.spool import Spool
from wordgeom.pool import Pool
from wordgeom.progress import Progress

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

    def spool(self) -> Spool:
        """Return an empty stream of ids, part of which is held in memory."""
        return Spool(self.memory // _IDS_SHARE, self.folder)
