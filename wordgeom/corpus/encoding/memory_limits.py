"""Shares of the memory limit for blocks, words and ids while a corpus is read."""

from __future__ import annotations

from wordgeom.corpus.inputs.readers import BLOCK
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import data_room
from wordgeom.runtime.pool import LOOKAHEAD
from wordgeom.storage.id_stream import Spool
from wordgeom.storage.scratch import Scratch

# Shares of what the program leaves of the memory.
_IDS_SHARE = 4  # a quarter for each stream of ids
_WORDS_SHARE = 2  # half for the words that may get a row
_BLOCKS_SHARE = 4  # a quarter for the blocks that threads tokenise or wait for
_COPIES = 4  # of a block's size: its text, the same in normal form, ids in two places
_RECORD_SHARE = 5.5  # a record's line, as text and parsed, and copies on the way to threads


def words_limit(context: Context) -> int:
    """Return the bytes available for words that may get a row."""
    return data_room(context.memory) // _WORDS_SHARE


def ids_limit(context: Context) -> int:
    """Return the bytes of a stream of ids that stay in memory."""
    return ids_room(context.memory)


def ids_room(memory: int) -> int:
    """Return `ids_limit` under a memory limit."""
    return data_room(memory) // _IDS_SHARE


def blocks_ahead(context: Context) -> int:
    """Return how many blocks may wait for, or be in, the hands of threads beyond the next one."""
    fitting = data_room(context.memory) // _BLOCKS_SHARE // (_COPIES * BLOCK)
    return min(context.pool.threads * LOOKAHEAD, fitting)


def longest_record(context: Context) -> int:
    """Return the bytes of the longest line of a record that can be read."""
    return int(data_room(context.memory) / _RECORD_SHARE)


def id_stream(context: Context) -> Spool:
    """Return an empty stream of ids, which moves to scratch space when it exceeds its limit."""
    return Spool(ids_limit(context), Scratch(context.scratch))
