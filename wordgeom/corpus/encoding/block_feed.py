"""The blocks of all files in sequence, with a record of how many were handed out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wordgeom.corpus.inputs.readers import Block, Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.corpus.tokens.markup import ALL, TAGS, whole_tags
from wordgeom.runtime.signals import StopRequest


class NumberedBlock(NamedTuple):
    """A block, the index of its file, and its offset in the text of all files, in bytes.

    An empty file has no block.
    """

    file: int
    base: int
    block: Block


class BlockFeed:
    """Hands out blocks until the end of the text or an interruption.

    taken: blocks handed out; digest: of the file bytes that were read for them, reproducible for
    the same files; over: there are no more blocks.
    """

    def __init__(
        self,
        sources: Sequence[Source],
        separators: bytes,
        options: CorpusOptions,
        stop: StopRequest,
    ) -> None:
        self._blocks, self._stop = self._all(sources, separators, options), stop
        self._read, self._current = hashlib.sha256(), Source("")
        self.taken, self.digest, self.over = 0, "", False

    @property
    def stopped(self) -> bool:
        """Whether the run was interrupted."""
        return self._stop.requested

    def take(self) -> NumberedBlock | None:
        """Return the next block; None at the end and after an interruption."""
        numbered = None
        if not (self.over or self._stop.requested):
            try:
                with self._stop.immediate():  # reading a pipe may block
                    numbered = next(self._blocks, None)
            except KeyboardInterrupt:
                numbered = None  # an incomplete block is not counted
                self._stop.requested = True  # raised by the texts of a caller, without a signal
        if numbered is None:
            self.over = True
            return None
        self.taken += 1
        read = self._read.copy()
        read.update(self._current.running.digest())
        self.digest = read.hexdigest()
        return numbered

    def _all(
        self, sources: Sequence[Source], separators: bytes, options: CorpusOptions
    ) -> Iterator[NumberedBlock]:
        base = 0
        for file, source in enumerate(sources):
            self._current = source
            blocks = formats.blocks(source, separators, options)
            if options.strip in (TAGS, ALL):
                blocks = whole_tags(blocks, separators)
            for block in blocks:
                yield NumberedBlock(file, base, block)
                base += len(block.text)
            self._read.update(source.running.digest())
