"""Join the ids of consecutive blocks, with separators where documents and files begin."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Int32
from wordgeom.corpus.encoding.segments import Piece, Position, Segment
from wordgeom.corpus.encoding.tokenise_block import TokenisedBlock, newlines_between
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import kernels


class BlockJoiner:
    """Adds blocks, in order, to segments; its fields are those of Position.

    has_tokens: whether a block before had any.
    """

    def __init__(self, options: CorpusOptions) -> None:
        self._threshold = newlines_between(options)
        self.newlines = self.lines = self.file = self.files = 0
        self.has_tokens = False

    def resume(self, position: Position) -> None:
        """Go on after the blocks that an earlier run has read."""
        self.newlines, self.lines = position.newlines, position.lines
        self.file, self.files = position.file, position.files

    def add(self, tokens: TokenisedBlock, segment: Segment) -> None:
        """Add a block's ids, after a separator if a document begins with them."""
        if tokens.file > self.file:
            self.files += tokens.file - self.file
            self.file, self.newlines, self.lines = tokens.file, 0, 0
        if tokens.before < 0:  # the block has no tokens
            self.newlines += tokens.after
            return
        between = self.newlines + tokens.before
        lines = self.lines + between
        if self.files or not self.has_tokens or between >= self._threshold:
            _append(segment, tokens.ids[0][0], _separator(self.files, lines))
            lines = 0
        if tokens.broken and lines:
            _carry(tokens.ids, lines)
        for run, ids in tokens.ids:
            _append(segment, run, ids)
        self.lines = tokens.lines + (0 if tokens.broken else lines)
        self.newlines, self.files, self.has_tokens = tokens.after, 0, True


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
