"""Tokenise one block of text into provisional ids, on the thread that has the block."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.types import Int32
from wordgeom.corpus.encoding.block_feed import NumberedBlock
from wordgeom.corpus.inputs.readers import BLOCK, Block
from wordgeom.corpus.options import CorpusOptions, case_of
from wordgeom.corpus.tokens import kernels
from wordgeom.corpus.tokens.character_kernels import CHECKED
from wordgeom.corpus.tokens.lexicon_kernels import MAX_TOKEN
from wordgeom.corpus.tokens.markup import stripper
from wordgeom.corpus.tokens.normal_forms import GROWTH
from wordgeom.corpus.tokens.spill import ThreadLexicon
from wordgeom.corpus.tokens.token_pattern import compiled
from wordgeom.corpus.tokens.tokenisers import Tokeniser, tokeniser
from wordgeom.runtime.pool import Reusable

_NEVER = 1 << 62
_MOST_ROOM = 4 * BLOCK  # ids of the array that a thread keeps
_SPACE = re.compile(rb"[ \n]")
_NEWLINES = {"line": 1, "block": 2, "file": _NEVER}


def newlines_between(options: CorpusOptions) -> int:
    """Return the number of newlines that end a document."""
    return _NEWLINES[options.document]


def tokeniser_of(options: CorpusOptions) -> Tokeniser:
    """Return the tokeniser of the options; raises OptionError for an invalid pattern."""
    name = options.tokeniser if options.token_pattern is None else "whitespace"
    lower = case_of(options.tokeniser, options.case) == "lower"
    return replace(
        tokeniser(name, options.normalise, lower=lower),
        strip=stripper(options.strip, lines=options.document == "line"),
        pattern=None if options.token_pattern is None else compiled(options.token_pattern),
    )


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


class Lexicons(Protocol):
    """The lexicons of the threads that tokenise, such as Runs."""

    def mine(self) -> ThreadLexicon:
        """Return the calling thread's lexicon."""

    def spill(self, current: ThreadLexicon) -> None:
        """Empty a lexicon that is full, for the next run."""


class BlockTokeniser:
    """Tokenises blocks on any number of threads.

    Each thread must receive its blocks in text order, so that its lexicon records the first
    occurrence of each type.
    """

    def __init__(self, tables: Tokeniser, options: CorpusOptions, runs: Lexicons) -> None:
        self._tables, self._runs = tables, runs
        self._threshold = newlines_between(options)
        self._room = Reusable(lambda: [np.empty(0, np.int32)])

    def __call__(self, numbered: NumberedBlock) -> TokenisedBlock:
        """Return the ids of a block. Raises InputError for a token that is too long, WriteError."""
        room = self._room.take()
        tokens = _tokenise(numbered, self._tables, self._threshold, room, self._runs)
        if len(room[0]) <= _MOST_ROOM:  # a long record was an exception
            self._room.give_back(room)
        return tokens


def _tokenise(
    numbered: NumberedBlock, tables: Tokeniser, threshold: int, room: list[Int32], runs: Lexicons
) -> TokenisedBlock:
    """Tokenise the text of a block, normalised from the first place where that may change it.

    room: a list of one array, which is replaced where it is too short for the ids.
    """
    file, base, block = numbered
    current = runs.mine()
    text = tables.prepared(block.text)
    unchecked = text.isascii() or tables.pattern is not None or tables.normaliser is None
    rest = _Rest(text, 0, not unchecked)
    if rest.checked and not tables.decodes:
        rest = rest.normalised(0, tables)
    state = np.array([0, 0, -1, kernels.NEEDS_ROOM, 0, 0], np.int64)
    parts: list[tuple[int, Int32]] = []
    at = 0
    while state[3] in (kernels.NEEDS_ROOM, kernels.NOT_NORMAL):
        if len(room[0]) <= len(rest.text):
            room[0] = np.empty(len(rest.text) + 1, np.int32)
        state[0] = 0
        at = current.lexicon.tokenise(
            np.frombuffer(rest.text, np.uint8), at, GROWTH * base + rest.begin, tables.byte_map,
            tables.table(rest.text.isascii()), rest.checked and CHECKED, threshold,
            room[0], state,
        )  # fmt: skip
        parts.append((current.run, room[0][: state[0]].copy()))
        if state[3] == kernels.NEEDS_ROOM:
            runs.spill(current)
        elif state[3] == kernels.NOT_NORMAL:
            rest, at = rest.normalised(at, tables), 0
    if state[3] == kernels.TOO_LONG:
        _fail_at_token(block, rest, at, tables)
    _, after, before, _, lines, broken = state.tolist()
    return TokenisedBlock(parts, before, after, lines, bool(broken), len(block.text), file)


@dataclass(frozen=True)
class _Rest:
    """The text of a block from byte `begin`; checked: it is not known to be normalised."""

    text: bytes
    begin: int
    checked: bool

    def normalised(self, at: int, tables: Tokeniser) -> _Rest:
        """Return the text from a token at text[at] normalised, with the separator before it."""
        start = max(at - 1, 0)
        while start and self.text[start] & 0xC0 == 0x80:
            start -= 1
        if self.text[start:at] == b"\n":  # line feeds are counted once
            start = at
        return _Rest(tables.normalised(self.text[start:]), self.begin + start, False)


def _fail_at_token(block: Block, rest: _Rest, at: int, tables: Tokeniser) -> None:
    """Raise InputError for a token at rest.text[at]; `block` is the text as in the file."""
    tail = np.frombuffer(rest.text, np.uint8)[at:]
    ends = np.flatnonzero((tables.byte_map[tail] == 0) & (tail < 128))
    length = int(ends[0]) if len(ends) else len(tail)
    raw = block.text[rest.begin :]
    start = rest.begin + (at if raw == rest.text else _before_normalising(raw, at, tables))
    raise InputError(
        f"the token at byte {block.offset + start:,} has {length:,} bytes without a separator",
        where=block.source,
        do=f"check that this is text; tokens must be shorter than {MAX_TOKEN:,} bytes",
    )


def _before_normalising(text: bytes, at: int, tables: Tokeniser) -> int:
    """Return the start in `text` of the word, between spaces, of a byte of the normalised text."""

    def read(text: bytes) -> bytes:
        return tables.normalised(tables.prepared(text))

    starts = [0, *(space.end() for space in _SPACE.finditer(text))]
    found = bisect_right(starts, at, key=lambda start: len(read(text[:start])))
    return starts[found - 1]
