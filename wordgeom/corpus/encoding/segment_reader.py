"""Read text into segments of provisional ids on several threads, after those of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing

import numpy as np

from wordgeom.core.types import Int32
from wordgeom.corpus.encoding.block_feed import BlockFeed, NumberedBlock
from wordgeom.corpus.encoding.memory_limits import blocks_ahead, ids_limit, longest_record
from wordgeom.corpus.encoding.segments import (
    CorpusCheckpoint,
    Piece,
    Position,
    SavedSegment,
    Segment,
    SegmentDraft,
)
from wordgeom.corpus.encoding.tokenise_block import (
    BlockTokeniser,
    TokenisedBlock,
    newlines_between,
)
from wordgeom.corpus.inputs.readers import BLOCK, Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import kernels
from wordgeom.corpus.tokens.spill import Runs
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
    checkpoint: CorpusCheckpoint,
    context: Context,
    resources: ExitStack,
) -> list[Segment]:
    """Read all files; the storage of the ids is closed with `resources`.

    total: bytes to read, for the progress bar. Negative ids separate documents (tokens/kernels.py).
    An interruption ends and saves a segment before it is raised. Raises StaleError if the
    checkpoint is of another text, FormatError if it is damaged, InputError for a token that is too
    long, WriteError.
    """
    for source in sources:
        source.longest = longest_record(context)
    saved = checkpoint.saved_segments()
    with stop_requests() as stop:
        feed = BlockFeed(sources, tables.separators, options, stop)
        tokenise = BlockTokeniser(tables, options, runs)
        reader = _SegmentReader(feed, tokenise, options, runs, checkpoint, context)
        steps = reader.steps(saved, resources)
        for _ in context.progress.follow(steps, "reading", total, "B", int):
            pass
    return reader.segments


class _SegmentReader:
    """Skips the blocks of saved segments, then reads the others segment by segment."""

    def __init__(
        self,
        feed: BlockFeed,
        tokenise: BlockTokeniser,
        options: CorpusOptions,
        runs: Runs,
        checkpoint: CorpusCheckpoint,
        context: Context,
    ) -> None:
        self._feed, self._tokenise, self._runs = feed, tokenise, runs
        self._checkpoint, self._context = checkpoint, context
        self._threshold, self._phrases = newlines_between(options), options.phrases
        self._newlines = self._lines = self._file = self._files = 0
        self._has_tokens = False
        self.segments: list[Segment] = []

    def steps(self, saved: list[SavedSegment], resources: ExitStack) -> Iterator[int]:
        """Read everything; yield the bytes of each block."""
        for segment in saved:
            self._adopt(segment)
            resources.callback(self.segments[-1].ids.close)
        if saved:
            yield from self._skip(saved[-1].position)
        while not self._feed.over:
            draft = resources.enter_context(closing(self._checkpoint.begin()))
            yield from self._read(draft, resources)

    def _adopt(self, saved: SavedSegment) -> None:
        """Add a saved segment as if it had been read now."""
        numbers = [self._runs.adopt(run) for run in saved.runs]
        pieces = [Piece(numbers[run], length) for run, length in saved.pieces]
        ids = Spool.of(saved.ids, sum(length for _, length in pieces))
        self.segments.append(Segment(pieces, ids, saved.boundaries))
        self._has_tokens = self._has_tokens or bool(pieces)

    def _skip(self, position: Position) -> Iterator[int]:
        """Skip the blocks of saved segments, and check that they have not changed."""
        while self._feed.taken < position.blocks and (numbered := self._feed.take()) is not None:
            yield len(numbered.block.text)
        feed, expected = self._feed, (position.blocks, position.digest)
        if not feed.stopped and (feed.taken, feed.digest) != expected:
            raise self._checkpoint.text_changed()
        self._newlines, self._lines = position.newlines, position.lines
        self._file, self._files = position.file, position.files

    def _read(self, draft: SegmentDraft, resources: ExitStack) -> Iterator[int]:
        """Read a segment; save it if that is worthwhile."""
        before = self._feed.taken
        self._runs.begin_segment(draft.runs)
        room = min(ids_limit(self._context), self._checkpoint.room)
        segment = Segment([], resources.enter_context(Spool(room, draft.ids)))
        ahead = blocks_ahead(self._context)
        for tokens in self._context.pool.map(
            self._tokenise, self._blocks(), ahead, size=size_in_blocks
        ):
            self._add(tokens, segment)
            yield tokens.bytes
        if self._feed.taken == before:
            return
        self.segments.append(segment)
        finished = self._feed.over and not self._feed.stopped
        if self._should_save(finished):
            runs = self._runs.end_segment(self._context.pool, last=finished)
            segment.ids.flush()
            draft.commit(segment.pieces, runs, self._position())

    def _should_save(self, finished: bool) -> bool:
        """Return whether to save the last segment; finished: the whole text was read."""
        ids = sum(segment.ids.length for segment in self.segments)
        soon_done = finished and not self._phrases  # the final ids will be saved shortly
        worth = self._checkpoint.is_worth_saving(ids // 2 if soon_done else ids)
        return self._checkpoint.due() or worth

    def _blocks(self) -> Iterator[NumberedBlock]:
        """Yield the blocks of a segment."""
        while (numbered := self._feed.take()) is not None:
            yield numbered
            if self._checkpoint.due():
                return

    def _add(self, tokens: TokenisedBlock, segment: Segment) -> None:
        """Add a block's ids, after a separator if a document begins with them."""
        if tokens.file > self._file:
            self._files += tokens.file - self._file
            self._file, self._newlines, self._lines = tokens.file, 0, 0
        if tokens.before < 0:  # the block has no tokens
            self._newlines += tokens.after
            return
        between = self._newlines + tokens.before
        lines = self._lines + between
        if self._files or not self._has_tokens or between >= self._threshold:
            _append(segment, tokens.ids[0][0], _separator(self._files, lines))
            lines = 0
        if tokens.broken and lines:
            _carry(tokens.ids, lines)
        for run, ids in tokens.ids:
            _append(segment, run, ids)
        self._lines = tokens.lines + (0 if tokens.broken else lines)
        self._newlines, self._files, self._has_tokens = tokens.after, 0, True

    def _position(self) -> Position:
        feed = self._feed
        state = self._newlines, self._lines, self._file, self._files
        return Position(feed.digest, feed.taken, *state)


def size_in_blocks(numbered: NumberedBlock) -> int:
    """Return the size of a block in blocks: a record is never cut."""
    return -(-len(numbered.block.text) // BLOCK)


def _append(segment: Segment, run: int, ids: Int32) -> None:
    if len(ids):
        segment.ids.append(ids)
        segment.pieces.append(Piece(run, len(ids)))
        segment.boundaries += int(np.count_nonzero(ids < 0)) + 1


def _separator(files: int, lines: int) -> Int32:
    """Return the negative ids before a document: `files` ended, and it begins `lines` below."""
    return np.array([kernels.FILE_END] * files + _line_ids(lines), np.int32)


def _line_ids(lines: int) -> list[int]:
    full, rest = divmod(lines, kernels.MOST_LINES)
    return [-kernels.MOST_LINES] * full + ([-rest] if rest else [])


def _carry(pieces: list[tuple[int, Int32]], lines: int) -> None:
    """Add the lines of earlier blocks to the first document boundary within a block."""
    for number, (run, ids) in enumerate(pieces):
        boundaries = np.flatnonzero(ids < 0)
        if len(boundaries):
            more = np.array(_line_ids(lines), np.int32)
            pieces[number] = run, np.insert(ids, boundaries[0], more)
            return
