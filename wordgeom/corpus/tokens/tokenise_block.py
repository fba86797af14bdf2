"""A block of text → provisional ids, on the thread that has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Int32
from wordgeom.corpus.inputs.block_feed import Numbered
from wordgeom.corpus.inputs.readers import Block
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import kernels
from wordgeom.corpus.tokens.spill import Runs
from wordgeom.corpus.tokens.tokenisers import Tokeniser
from wordgeom.runtime.pool import Reusable

NEVER = 1 << 62
_NEWLINES = {"line": 1, "block": 2, "file": NEVER}


def newlines_between(options: CorpusOptions) -> int:
    """Return how many newlines end a document."""
    return _NEWLINES[options.document]


@dataclass(frozen=True)
class Tokens:
    """A block's ids, by run: more than one where a lexicon was spilled on the way.

    before: newlines before the first token, -1 where there is none; after: newlines since the
    last token, or since the start where there is none; lines: from where the last document that
    begins behind the first token begins, or from the first token, to the last token; broken:
    whether one begins there; file: its number.
    """

    ids: list[tuple[int, Int32]]
    before: int
    after: int
    lines: int
    broken: bool
    bytes: int
    file: int


class Tokenising:
    """Makes ids of blocks, for any number of threads.

    A thread must be given blocks in their order, so that its lexicon meets a type at its first
    place.
    """

    def __init__(self, tables: Tokeniser, options: CorpusOptions, runs: Runs) -> None:
        self._tables, self._runs = tables, runs
        self._threshold = newlines_between(options)
        self._room = Reusable(lambda: [np.empty(0, np.int32)])

    def __call__(self, numbered: Numbered) -> Tokens:
        """Return the ids of a block. Raises InputError for a token without end, WriteError."""
        buffer, size = self._room.take(), len(numbered.block.text) + 1
        if len(buffer[0]) < size:
            buffer[0] = np.empty(size, np.int32)
        tokens = _tokenise(numbered, self._tables, self._threshold, buffer[0], self._runs)
        self._room.give_back(buffer)
        return tokens


def _tokenise(
    numbered: Numbered, tables: Tokeniser, threshold: int, ids: Int32, runs: Runs
) -> Tokens:
    file, base, block = numbered
    current = runs.own()
    text = np.frombuffer(block.text, np.uint8)
    lower = tables.lower(block.ascii)
    state = np.array([0, 0, -1, kernels.NEEDS_ROOM, 0, 0], np.int64)
    made: list[tuple[int, Int32]] = []
    at = 0
    while state[3] == kernels.NEEDS_ROOM:
        state[0] = 0
        at = current.lexicon.tokenise(text, at, base, tables.byte_map, lower, threshold, ids, state)
        made.append((current.run, ids[: state[0]].copy()))
        if state[3] == kernels.NEEDS_ROOM:
            runs.spill(current)
    if state[3] == kernels.TOO_LONG:
        _refuse_token(block, at, tables)
    _, after, before, _, lines, broken = state.tolist()
    return Tokens(made, before, after, lines, bool(broken), len(text), file)


def _refuse_token(block: Block, at: int, tables: Tokeniser) -> None:
    rest = np.frombuffer(block.text, np.uint8)[at:]
    ends = np.flatnonzero(tables.byte_map[rest] == 0)
    if tables.unicode:
        ends = ends[rest[ends] < 128]
    length = int(ends[0]) if len(ends) else len(rest)
    raise InputError(
        f"a token is too long at byte {block.offset + at:,}",
        where=block.source,
        found=f"{length:,} bytes without a break",
        do=f"check that this is text; a token has less than {kernels.MAX_TOKEN:,} bytes",
    )
