"""Text → provisional ids, on threads: blocks in, pieces of one stream out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wordgeom.corpus import kernels
from wordgeom.corpus.means import Means
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.readers import Block
from wordgeom.corpus.spilling import Runs
from wordgeom.corpus.spool import Spool
from wordgeom.corpus.tokenisers import Tokeniser
from wordgeom.errors import InputError
from wordgeom.pool import Lent
from wordgeom.types import Int32

_NEVER = 1 << 62
_NEWLINES = {"line": 1, "block": 2, "file": _NEVER}


@dataclass(frozen=True)
class Piece:
    """Ids of one run in the provisional stream: how many, and boundaries in them."""

    run: int
    length: int
    boundaries: int


@dataclass(frozen=True)
class Tokens:
    """A block's ids, by run: more than one where a lexicon was spilled on the way.

    before: newlines before the first token, -1 where there is none; after: newlines since the
    last token, or since the start where there is none; last: of its file.
    """

    ids: list[tuple[int, Int32]]
    before: int
    after: int
    bytes: int
    last: bool


def tokenise_all(
    blocks: Iterable[tuple[int, Block]],
    total: int | None,
    tables: Tokeniser,
    options: CorpusOptions,
    out: Spool,
    runs: Runs,
    means: Means,
) -> list[Piece]:
    """Fill `out` with the ids of the blocks, each given with its place in the corpus.

    total: bytes to come. Documents are told apart by kernels.BOUNDARY. Raises InputError for a
    token without end, WriteError.
    """
    threshold = _NEWLINES[options.document]
    room = Lent(lambda: [np.empty(0, np.int32)])

    # A thread takes blocks in their order, so that its lexicon meets a type at its first place.
    def tokenise(numbered: tuple[int, Block]) -> Tokens:
        buffer = room.take()
        if len(buffer[0]) < len(numbered[1].text) + 1:
            buffer[0] = np.empty(len(numbered[1].text) + 1, np.int32)
        tokens = _tokenise(*numbered, tables, threshold, buffer[0], runs)
        room.give_back(buffer)
        return tokens

    pieces: list[Piece] = []
    boundary = np.array([kernels.BOUNDARY], np.int32)
    newlines = 0
    done = means.pool.map(tokenise, blocks)
    for tokens in means.progress.follow(done, "reading", total, "B", lambda t: t.bytes):
        if tokens.before < 0:  # no token in the block
            newlines += tokens.after
        else:
            if newlines + tokens.before >= threshold and pieces:
                out.append(boundary)
                pieces.append(Piece(pieces[-1].run, 1, 1))
            for run, ids in tokens.ids:
                out.append(ids)
                inner = int(np.count_nonzero(ids == kernels.BOUNDARY))
                pieces.append(Piece(run, len(ids), inner + 1))
            newlines = tokens.after
        if tokens.last:  # a file's end ends its last document
            newlines = _NEVER
    return pieces


def _tokenise(
    base: int, block: Block, tables: Tokeniser, threshold: int, ids: Int32, runs: Runs
) -> Tokens:
    current = runs.mine()
    text = np.frombuffer(block.text, np.uint8)
    lower = tables.lower(block.ascii)
    state = np.array([0, 0, -1, kernels.NEEDS_ROOM], np.int64)
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
    return Tokens(made, int(state[2]), int(state[1]), len(text), block.last)


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
