"""The blocks of all files, one after the other, and how far they were handed out."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wordgeom.corpus.inputs import formats
from wordgeom.corpus.inputs.readers import Block, Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.runtime.signals import StopRequest


class Numbered(NamedTuple):
    """A block: the number of its file, from 0, and its place in all files, in bytes of clean text.

    A file of nothing has no block.
    """

    file: int
    base: int
    block: Block


class Feed:
    """Hands out blocks until there are no more, or somebody asks to stop.

    taken: how many were handed out; digest: of the files' bytes that were read for them, the same
    whenever the same files are read; over: no more will come.
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
        """Whether somebody asked to stop."""
        return self._stop.requested

    def take(self) -> Numbered | None:
        """Return the next block, None where there is none or the reading is to stop."""
        numbered = None
        if not (self.over or self._stop.requested):
            try:
                with self._stop.immediate():  # a pipe may let us wait
                    numbered = next(self._blocks, None)
            except KeyboardInterrupt:
                numbered = None  # in the midst of a block: those before it count
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
    ) -> Iterator[Numbered]:
        base = 0
        for file, source in enumerate(sources):
            self._current = source
            for block in formats.blocks(source, separators, options):
                yield Numbered(file, base, block)
                base += len(block.text)
            self._read.update(source.running.digest())
