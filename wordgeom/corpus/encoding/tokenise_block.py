"""Tokenise one block of text into provisional ids, on the thread that has the block."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Int32
from wordgeom.corpus.encoding.block_feed import NumberedBlock
from wordgeom.corpus.inputs.readers import Block
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import kernels
from wordgeom.corpus.tokens.normal_forms import GROWTH
from wordgeom.corpus.tokens.spill import Runs
from wordgeom.corpus.tokens.tokenisers import Tokeniser
from wordgeom.runtime.pool import Reusable

_NEVER = 1 << 62
_SPACE = re.compile(rb"[ \n]")
_NEWLINES = {"line": 1, "block": 2, "file": _NEVER}


def newlines_between(options: CorpusOptions) -> int:
    """Return the number of newlines that end a document."""
    return _NEWLINES[options.document]


@dataclass(frozen=True)
class TokenisedBlock:
    """The ids of a block by run; several runs if the lexicon was spilled within the block.

    before: newlines before the first token, -1 without tokens; after: newlines since the last
    token, or in the whole block without tokens; lines: from the start of the last document that
    begins after the first token, or from the first token, to the last token; broken: whether a
    document begins after the first token; file: the index of the file.
    """

    ids: list[tuple[int, Int32]]
    before: int
    after: int
    lines: int
    broken: bool
    bytes: int
    file: int


class BlockTokeniser:
    """Tokenises blocks on any number of threads.

    Each thread must receive its blocks in text order, so that its lexicon records the first
    occurrence of each type.
    """

    def __init__(self, tables: Tokeniser, options: CorpusOptions, runs: Runs) -> None:
        self._tables, self._runs = tables, runs
        self._threshold = newlines_between(options)
        self._room = Reusable(lambda: [np.empty(0, np.int32)])

    def __call__(self, numbered: NumberedBlock) -> TokenisedBlock:
        """Return the ids of a block. Raises InputError for a token that is too long, WriteError."""
        normal = _normalised(numbered.block, self._tables)
        buffer, size = self._room.take(), len(normal.text) + 1
        if len(buffer[0]) < size:
            buffer[0] = np.empty(size, np.int32)
        tokens = _tokenise(numbered, normal, self._tables, self._threshold, buffer[0], self._runs)
        self._room.give_back(buffer)
        return tokens


def _tokenise(
    numbered: NumberedBlock,
    normal: Block,
    tables: Tokeniser,
    threshold: int,
    ids: Int32,
    runs: Runs,
) -> TokenisedBlock:
    """Tokenise `normal`, the normalised text of a block."""
    file, base, block = numbered
    current = runs.mine()
    text = np.frombuffer(normal.text, np.uint8)
    lower = tables.lower(normal.ascii)
    state = np.array([0, 0, -1, kernels.NEEDS_ROOM, 0, 0], np.int64)
    parts: list[tuple[int, Int32]] = []
    at, base = 0, GROWTH * base
    while state[3] == kernels.NEEDS_ROOM:
        state[0] = 0
        at = current.lexicon.tokenise(text, at, base, tables.byte_map, lower, threshold, ids, state)
        parts.append((current.run, ids[: state[0]].copy()))
        if state[3] == kernels.NEEDS_ROOM:
            runs.spill(current)
    if state[3] == kernels.TOO_LONG:
        _fail_at_token(block, normal, at, tables)
    _, after, before, _, lines, broken = state.tolist()
    return TokenisedBlock(parts, before, after, lines, bool(broken), len(block.text), file)


def _normalised(block: Block, tables: Tokeniser) -> Block:
    """Return a block with its text normalised; its offset and line are those of the file."""
    if block.ascii or tables.normaliser is None:
        return block
    text = tables.normaliser.encoded(block.text)
    return block if text is block.text else replace(block, text=text, ascii=text.isascii())


def _fail_at_token(block: Block, normal: Block, at: int, tables: Tokeniser) -> None:
    """Raise InputError for a token at normal.text[at]; `block` is the text as in the file."""
    rest = np.frombuffer(normal.text, np.uint8)[at:]
    ends = np.flatnonzero(tables.byte_map[rest] == 0)
    if tables.unicode:
        ends = ends[rest[ends] < 128]
    length = int(ends[0]) if len(ends) else len(rest)
    start = at if normal is block else _before_normalising(block.text, at, tables)
    raise InputError(
        f"the token at byte {block.offset + start:,} has {length:,} bytes without a separator",
        where=block.source,
        do=f"check that this is text; tokens must be shorter than {kernels.MAX_TOKEN:,} bytes",
    )


def _before_normalising(text: bytes, at: int, tables: Tokeniser) -> int:
    """Return the start in `text` of the word, between spaces, of a byte of the normalised text."""
    assert tables.normaliser is not None
    normal = tables.normaliser.encoded
    starts = [0, *(space.end() for space in _SPACE.finditer(text))]
    found = bisect_right(starts, at, key=lambda start: len(normal(text[:start])))
    return starts[found - 1]
