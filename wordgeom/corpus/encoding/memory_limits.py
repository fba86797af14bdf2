"""Shares of the memory limit for words and for ids while a corpus is read."""

from __future__ import annotations

from wordgeom.runtime.context import Context
from wordgeom.storage.id_stream import Spool
from wordgeom.storage.scratch import Scratch

_IDS_SHARE = 4  # a quarter of the memory for each stream of ids
_WORDS_SHARE = 2  # half of the memory for the words that may get a row


def words_limit(context: Context) -> int:
    """Return the bytes available for words that may get a row."""
    return context.memory // _WORDS_SHARE


def ids_limit(context: Context) -> int:
    """Return the bytes of a stream of ids that stay in memory."""
    return context.memory // _IDS_SHARE


def id_stream(context: Context) -> Spool:
    """Return an empty stream of ids, which moves to scratch space when it exceeds its limit."""
    return Spool(ids_limit(context), Scratch(context.scratch))
