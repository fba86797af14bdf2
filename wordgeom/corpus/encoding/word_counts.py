"""Count the words of a text, of all of it or of a part, without its ids.

The counts of parts add up to those of the text: a word occurs first in the first part that has it,
and the vocabulary is cut from the sums as it is cut from the counts of a text that is read at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Int64
from wordgeom.corpus.encoding.block_feed import BlockFeed, NumberedBlock
from wordgeom.corpus.encoding.cluster_reader import count_on_cluster
from wordgeom.corpus.encoding.encode import total_bytes
from wordgeom.corpus.encoding.encoded_text import chosen_types
from wordgeom.corpus.encoding.memory_limits import blocks_ahead, longest_record, words_limit
from wordgeom.corpus.encoding.segment_reader import size_in_blocks
from wordgeom.corpus.encoding.tokenise_block import BlockTokeniser, tokeniser_of
from wordgeom.corpus.encoding.word_lists import WordLists
from wordgeom.corpus.inputs.readers import Source
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens.lexicon import Lexicon
from wordgeom.corpus.tokens.merge_lexicons import (
    MergedLexicon,
    Selection,
    merge_runs,
    statistics_of,
)
from wordgeom.corpus.tokens.spill import Runs
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import data_room
from wordgeom.runtime.signals import stop_requests


@dataclass(frozen=True)
class WordCounts:
    """Words with their counts, in order of first occurrence; tokens: all of the text."""

    words: Vocabulary
    tokens: int


def count_words(sources: Sequence[Source], options: CorpusOptions, context: Context) -> WordCounts:
    """Return every word of the text that the sources span, and how often it occurs.

    Raises what reading raises, and InputError where the words exceed the memory.
    """
    for source in sources:
        source.longest = longest_record(context)
    room = data_room(context.memory)
    with Runs(room, context.pool.threads, context.scratch) as runs:
        total = total_bytes(sources, options)
        if not count_on_cluster(sources, total, options, runs, context):
            _count_here(sources, total, options, runs, context)
        merged = merge_runs(runs, Selection([], 1, 0, words_limit(context)), context)
        return WordCounts(every_word(merged.table), merged.statistics.tokens)


def _count_here(
    sources: Sequence[Source], total: int | None, options: CorpusOptions, runs: Runs,
    context: Context,
) -> None:  # fmt: skip
    """Add the words of a text to `runs`, on the threads of this process."""
    tables = tokeniser_of(options)
    with stop_requests() as stop:
        feed = BlockFeed(sources, tables.separators, options, stop)
        tokenise = BlockTokeniser(tables, options, runs)
        blocks: Iterator[NumberedBlock] = iter(feed.take, None)
        read = context.pool.map(tokenise, blocks, blocks_ahead(context), size=size_in_blocks)
        for _ in context.progress.follow(read, "reading", total, "B", lambda t: t.bytes):
            pass


def add_words(parts: Sequence[Vocabulary]) -> Lexicon:
    """Return the sum of the word counts of adjacent parts, in the order of the text.

    parts: words in order of first occurrence. Their numbers take the place of positions.
    """
    table, before = Lexicon(), 0
    for part in parts:
        lexicon = Lexicon.of([word.encode("utf-8") for word in part.words])
        lexicon.counts[:] = part.counts
        lexicon.firsts[:] = np.arange(before, before + len(part))
        table.absorb(lexicon)
        before += len(part)
    return table


def every_word(table: Lexicon) -> Vocabulary:
    """Return all words of a table, in order of first occurrence."""
    return _vocabulary(table, np.argsort(table.firsts, kind="stable"))


def cut_words(table: Lexicon, lists: WordLists, options: CorpusOptions) -> Vocabulary:
    """Return the words that get a row. Raises InputError where none does."""
    statistics = statistics_of(table)
    listed = table.add(lists.all).astype(np.int64)
    merged = MergedLexicon(table, listed, lambda run: np.empty(0, np.int64), statistics)
    return _vocabulary(table, chosen_types(merged, lists, options))


def _vocabulary(table: Lexicon, order: Int64) -> Vocabulary:
    words = [table.word(k).decode("utf-8") for k in order.tolist()]
    return Vocabulary(words, table.counts[order].copy())
