"""Totals of a short stretch of a text, read exactly as the whole text is."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.types import Int32, Int64
from wordgeom.corpus.encoding.encoded_text import EncodedText
from wordgeom.corpus.encoding.memory_limits import ids_limit, words_limit
from wordgeom.corpus.encoding.row_mapping import map_windows
from wordgeom.corpus.encoding.segment_reader import read_segments
from wordgeom.corpus.encoding.segments import CorpusCheckpoint
from wordgeom.corpus.encoding.tokenise_block import tokeniser_of
from wordgeom.corpus.encoding.word_lists import WordLists
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens.merge_lexicons import MergedLexicon, Selection, merge_runs
from wordgeom.corpus.tokens.spill import Runs
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import data_room
from wordgeom.runtime.progress import Progress


@dataclass(frozen=True)
class Totals:
    """Numbers of a stretch of text: ids in the stream, tokens, those with a row, documents begun.

    rows, counts: (n) int64, the rows of the words in it and how often each occurs.
    """

    ids: int
    tokens: int
    kept: int
    documents: int
    rows: Int64
    counts: Int64

    @classmethod
    def none(cls) -> Totals:
        """Return the totals of an empty stretch."""
        return cls(0, 0, 0, 0, np.empty(0, np.int64), np.empty(0, np.int64))

    def beyond(self, start: Totals) -> Totals:
        """Return the totals of this stretch without its start."""
        rows = np.concatenate((self.rows, start.rows))
        counts = np.concatenate((self.counts, -start.counts))
        return Totals(
            self.ids - start.ids, self.tokens - start.tokens, self.kept - start.kept,
            self.documents - start.documents, rows, counts,
        )  # fmt: skip


class StretchReader:
    """Reads stretches of files with the words of a vocabulary; gap, ends: as `encode` has them."""

    def __init__(
        self, options: CorpusOptions, lists: WordLists, context: Context, gap: int, ends: bool
    ) -> None:
        self._options, self._context = options, replace(context, progress=Progress())
        self._gap, self._ends = gap, ends
        self._words = lists.vocabulary or []
        self._rows = {word: row for row, word in enumerate(lists.all)}

    def totals(self, source: Source) -> Totals:
        """Return the totals of the bytes that a source spans. Raises what reading raises."""
        options, context = self._options, self._context
        with ExitStack() as resources:
            room, threads = data_room(context.memory), context.pool.threads
            runs = resources.enter_context(Runs(room, threads, context.scratch))
            segments = read_segments(
                [source], None, tokeniser_of(options), options, runs,
                CorpusCheckpoint(context.scratch, ids_limit(context)), context, resources,
            )  # fmt: skip
            merged = merge_runs(runs, Selection([], 1, 0, words_limit(context)), context)
            rows = self._rows_of(merged)
            pieces = ((ids, rows[merged.ids(run)]) for one in segments for run, ids in one.parts())
            text = EncodedText(
                Vocabulary(self._words, np.zeros(len(self._words), np.int64)), pieces,
                sum(one.ids.length for one in segments), sum(one.boundaries for one in segments),
                merged.statistics.tokens,
            )  # fmt: skip
            stream, totals = map_windows(text, options, self._gap, self._ends, 0, context, None)
            stream.close()
        known = np.flatnonzero(rows[:-1] < len(self._words))
        counts = merged.table.counts[known].copy()
        found = rows[known].astype(np.int64)
        return Totals(stream.length, totals.tokens, totals.kept, totals.documents, found, counts)

    def _rows_of(self, merged: MergedLexicon) -> Int32:
        """(types + 1) the row of each type, V for none; the last entry is for the id -1."""
        table, V = merged.table, len(self._words)
        return np.array(
            [*(self._rows.get(table.word(k), V) for k in range(len(table))), V], np.int32
        )
