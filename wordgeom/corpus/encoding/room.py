"""How much memory reading a corpus may use for words and for ids."""

from __future__ import annotations

from wordgeom.runtime.context import Context
from wordgeom.storage.id_stream import Spool
from wordgeom.storage.scratch import Scratch

_IDS_SHARE = 4  # of the memory, for each stream of ids
_WORDS_SHARE = 2  # of the memory, for the words that may get a row


def words_room(context: Context) -> int:
    """Return the bytes for words that may get a row."""
    return context.memory // _WORDS_SHARE


def ids_room(context: Context) -> int:
    """Return the bytes of a stream of ids that is held in memory."""
    return context.memory // _IDS_SHARE


def id_stream(context: Context) -> Spool:
    """Return an empty stream of ids, which goes to scratch space when it grows long."""
    return Spool(ids_room(context), Scratch(context.scratch))
