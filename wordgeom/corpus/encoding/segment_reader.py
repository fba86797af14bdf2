"""Read text into segments of provisional ids on several threads, after those of a checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing

from wordgeom.corpus.encoding.block_feed import BlockFeed, NumberedBlock
from wordgeom.corpus.encoding.block_joiner import BlockJoiner
from wordgeom.corpus.encoding.cluster_reader import read_on_cluster
from wordgeom.corpus.encoding.memory_limits import blocks_ahead, ids_limit, longest_record
from wordgeom.corpus.encoding.segments import (
    CorpusCheckpoint,
    Piece,
    Position,
    SavedSegment,
    Segment,
    SegmentDraft,
)
from wordgeom.corpus.encoding.tokenise_block import BlockTokeniser
from wordgeom.corpus.inputs.readers import BLOCK, Source
from wordgeom.corpus.options import CorpusOptions
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
    """Read all files, here or on a cluster; the storage of the ids is closed with `resources`.

    total: bytes to read, for the progress bar. Negative ids separate documents (tokens/kernels.py).
    An interruption ends and saves a segment before it is raised. Raises StaleError if the
    checkpoint is of another text, FormatError if it is damaged, InputError for a token that is too
    long, WriteError.
    """
    for source in sources:
        source.longest = longest_record(context)
    saved = checkpoint.saved_segments()
    if not saved:  # segments continue where the blocks before them end
        there = read_on_cluster(sources, total, options, runs, context, resources)
        if there is not None:
            return [there]
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
        self._joiner, self._phrases = BlockJoiner(options), options.phrases
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
        self._joiner.has_tokens = self._joiner.has_tokens or bool(pieces)

    def _skip(self, position: Position) -> Iterator[int]:
        """Skip the blocks of saved segments, and check that they have not changed."""
        while self._feed.taken < position.blocks and (numbered := self._feed.take()) is not None:
            yield len(numbered.block.text)
        feed, expected = self._feed, (position.blocks, position.digest)
        if not feed.stopped and (feed.taken, feed.digest) != expected:
            raise self._checkpoint.text_changed()
        self._joiner.resume(position)

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
            self._joiner.add(tokens, segment)
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

    def _position(self) -> Position:
        joiner, feed = self._joiner, self._feed
        state = joiner.newlines, joiner.lines, joiner.file, joiner.files
        return Position(feed.digest, feed.taken, *state)


def size_in_blocks(numbered: NumberedBlock) -> int:
    """Return the size of a block in blocks: a record is never cut."""
    return -(-len(numbered.block.text) // BLOCK)
