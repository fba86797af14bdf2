"""Text → segments of provisional ids, on threads: going on behind those that are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing

import numpy as np

from wordgeom.core.types import Int32
from wordgeom.corpus.inputs.block_feed import Feed, Numbered
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.inputs.segments import Draft, Found, Keeper, Mark, Piece, Segment
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import kernels
from wordgeom.corpus.tokens.room import ids_room
from wordgeom.corpus.tokens.spill import Runs
from wordgeom.corpus.tokens.tokenise_block import Tokenising, Tokens, newlines_between
from wordgeom.corpus.tokens.tokenisers import Tokeniser
from wordgeom.runtime.context import Context
from wordgeom.runtime.signals import stop_requests
from wordgeom.storage.id_stream import Spool


def read_segments(
    sources: Sequence[Source],
    total: int | None,
    tables: Tokeniser,
    options: CorpusOptions,
    runs: Runs,
    keeper: Keeper,
    context: Context,
    held: ExitStack,
) -> list[Segment]:
    """Read all files; what holds the ids is closed with `held`.

    total: bytes to come. What is negative stands between documents (kernels.py). An interruption
    ends and keeps a segment before it is raised. Raises StaleError where what is kept is of another
    text, FormatError where it is damaged, InputError for a token without end, WriteError.
    """
    found = keeper.found()
    separators = bytes(k for k in range(128) if tables.byte_map[k] == 0)
    with stop_requests() as stop:
        feed = Feed(sources, separators, options, stop)
        reading = _Reading(feed, Tokenising(tables, options, runs), options, runs, keeper, context)
        steps = reading.steps(found, held)
        for _ in context.progress.follow(steps, "reading", total, "B", int):
            pass
    return reading.segments


class _Reading:
    """Goes through the blocks: first those whose segments are kept, then segment by segment."""

    def __init__(
        self,
        feed: Feed,
        tokenise: Tokenising,
        options: CorpusOptions,
        runs: Runs,
        keeper: Keeper,
        context: Context,
    ) -> None:
        self._feed, self._tokenise, self._runs = feed, tokenise, runs
        self._keeper, self._context = keeper, context
        self._threshold, self._phrases = newlines_between(options), options.phrases
        self._newlines = self._lines = self._file = self._files = 0
        self._begun = False
        self.segments: list[Segment] = []

    def steps(self, found: list[Found], held: ExitStack) -> Iterator[int]:
        """Read all; yield the bytes of each block that has gone by."""
        for one in found:
            self._adopt(one)
            held.callback(self.segments[-1].ids.close)
        if found:
            yield from self._pass(found[-1].mark)
        while not self._feed.over:
            draft = held.enter_context(closing(self._keeper.begin()))
            yield from self._read(draft, held)

    def _adopt(self, found: Found) -> None:
        """Take a kept segment as if it had been read now."""
        numbers = [self._runs.adopt(run) for run in found.runs]
        pieces = [Piece(numbers[run], length) for run, length in found.pieces]
        ids = Spool.of(found.ids, sum(length for _, length in pieces))
        self.segments.append(Segment(pieces, ids, found.boundaries))
        self._begun = self._begun or bool(pieces)

    def _pass(self, mark: Mark) -> Iterator[int]:
        """Let the blocks go by whose ids are there; they must be what they were."""
        while self._feed.taken < mark.blocks and (numbered := self._feed.take()) is not None:
            yield len(numbered.block.text)
        stopped = self._feed.stopped
        if not stopped and (self._feed.taken, self._feed.digest) != (mark.blocks, mark.digest):
            raise self._keeper.other_text()
        self._newlines, self._lines = mark.newlines, mark.lines
        self._file, self._files = mark.file, mark.files

    def _read(self, draft: Draft, held: ExitStack) -> Iterator[int]:
        """Read a segment, and keep it where that is worth it."""
        before = self._feed.taken
        self._runs.begin_segment(draft.runs)
        room = min(ids_room(self._context), self._keeper.room)
        segment = Segment([], held.enter_context(Spool(room, draft.ids)))
        for tokens in self._context.pool.map(self._tokenise, self._blocks()):
            self._add(tokens, segment)
            yield tokens.bytes
        if self._feed.taken == before:
            return
        self.segments.append(segment)
        ended = self._feed.over and not self._feed.stopped
        if self._is_worth_keeping(ended):
            runs = self._runs.end_segment(self._context.pool, last=ended)
            segment.ids.flush()
            draft.commit(segment.pieces, runs, self._mark())

    def _is_worth_keeping(self, ended: bool) -> bool:
        """Tell whether to keep the last segment; ended: all is read."""
        ids = sum(segment.ids.length for segment in self.segments)
        soon_done = ended and not self._phrases  # nothing long comes before all ids are kept
        return self._keeper.due() or self._keeper.worth(ids // 2 if soon_done else ids)

    def _blocks(self) -> Iterator[Numbered]:
        """Yield blocks until the segment is to end."""
        while (numbered := self._feed.take()) is not None:
            yield numbered
            if self._keeper.due():
                return

    def _add(self, tokens: Tokens, segment: Segment) -> None:
        """Add a block's ids, with what tells that a document begins before them where one does."""
        if tokens.file > self._file:
            self._files += tokens.file - self._file
            self._file, self._newlines, self._lines = tokens.file, 0, 0
        if tokens.before < 0:  # no token in the block
            self._newlines += tokens.after
        else:
            between = self._newlines + tokens.before
            lines = self._lines + between
            if self._files or not self._begun or between >= self._threshold:
                _append(segment, tokens.ids[0][0], _begins(self._files, lines))
                lines = 0
            if tokens.broken and lines:
                _carry(tokens.ids, lines)
            for run, ids in tokens.ids:
                _append(segment, run, ids)
            self._lines = tokens.lines + (0 if tokens.broken else lines)
            self._newlines, self._files, self._begun = tokens.after, 0, True

    def _mark(self) -> Mark:
        feed = self._feed
        state = self._newlines, self._lines, self._file, self._files
        return Mark(feed.digest, feed.taken, *state)


def _append(segment: Segment, run: int, ids: Int32) -> None:
    if len(ids):
        segment.ids.append(ids)
        segment.pieces.append(Piece(run, len(ids)))
        segment.boundaries += int(np.count_nonzero(ids < 0)) + 1


def _begins(files: int, lines: int) -> Int32:
    """Return what stands before a document that begins after so many files, and then lines."""
    return np.array([kernels.FILE_END] * files + _below(lines), np.int32)


def _below(lines: int) -> list[int]:
    whole, rest = divmod(lines, kernels.MOST_LINES)
    return [-kernels.MOST_LINES] * whole + ([-rest] if rest else [])


def _carry(pieces: list[tuple[int, Int32]], lines: int) -> None:
    """Tell the first document that begins in a block of lines of the one before it."""
    for number, (run, ids) in enumerate(pieces):
        begun = np.flatnonzero(ids < 0)
        if len(begun):
            more = np.array(_below(lines), np.int32)
            pieces[number] = run, np.insert(ids, begun[0], more)
            return
