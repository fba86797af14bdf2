"""Text → one stream of word ids in a single pass: provisional ids first, mapped to rows at the end.

Each thread tokenises blocks with a lexicon of its own, so that threads share nothing; its
provisional ids are valid within one run of that lexicon. After the last block the runs are merged,
the vocabulary is selected, and one pass maps the ids to rows. Documents stand `gap` ids apart, so
that no window of that width crosses from one to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.corpus.encoding.encoded_text import EncodedText, as_read, as_text, with_phrases
from wordgeom.corpus.encoding.memory_limits import ids_limit, words_limit
from wordgeom.corpus.encoding.row_mapping import MakeSink, map_documents, map_windows
from wordgeom.corpus.encoding.segment_reader import read_segments
from wordgeom.corpus.encoding.segments import CorpusCheckpoint
from wordgeom.corpus.encoding.tokenise_block import tokeniser_of
from wordgeom.corpus.encoding.word_lists import (
    Choose,
    WordLists,
    read_word_lists,
    word_list_notes,
)
from wordgeom.corpus.inputs.readers import Source, file_stamp, is_compressed, is_stream
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.corpus.records.fields import skipped_note
from wordgeom.corpus.records.file_labels import label_sources
from wordgeom.corpus.tokens.merge_lexicons import Selection, merge_runs
from wordgeom.corpus.tokens.spill import Runs
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import data_room
from wordgeom.storage.id_stream import Ids

_NEVER = 1 << 62  # occurrences


@dataclass
class EncodedCorpus:
    """A corpus as ids.

    stream: int32 in [0, V]; V stands for a gap and for a token without a row, but with `ends` gaps
    are V + 1; tokens: all tokens, a phrase being one; kept: tokens with an id below V; documents:
    those with a token; short: documents below `short` tokens; notes: messages for the user.
    """

    vocabulary: Vocabulary
    stream: Ids
    sources: list[Source]
    tokens: int
    kept: int
    documents: int
    short: int
    notes: list[str] = field(default_factory=list)


def encode(
    sources: list[Source],
    options: CorpusOptions,
    context: Context,
    *,
    gap: int,
    short: int,
    ends: bool = False,
    sink: MakeSink | None = None,
    checkpoint: CorpusCheckpoint | None = None,
    lists: WordLists | None = None,
) -> EncodedCorpus:
    """Read files, or the bytes that sources span, and return them as one stream of ids.

    gap: ids between documents; short: documents with fewer tokens are counted as short; context:
    ids and words beyond a share of its memory go to scratch space; ends: separate documents by ids
    V + 1; sink: makes the storage of a stream that is too long for memory; checkpoint: saves what
    was read; lists: the words of `options`, if they were read already. Raises MissingInputError,
    InputError, FormatError, OptionError, StaleError or WriteError.
    """
    with _encoded(sources, options, checkpoint, context, lists) as (text, notes):
        stream, totals = map_windows(text, options, gap, ends, short, context, sink)
        return EncodedCorpus(text.vocabulary, stream, sources, *totals, notes)


def encode_documents(
    names: list[str],
    options: CorpusOptions,
    context: Context,
    *,
    passages: int | None = None,
    sink: MakeSink | None = None,
    checkpoint: CorpusCheckpoint | None = None,
) -> EncodedCorpus:
    """Read files and return the words of their documents, with an id V after each document.

    Tokens without a row are dropped. Every record, and every file with `--document file`, is a
    document; a line or a block is one only if it has a token. Each document has an entry in the
    `documents` of its source. passages: the tokens of a passage, which then takes the place of a
    document (passages.py). Other arguments and errors as in `encode`.
    """
    sources = [Source(name, listed=True) for name in names]
    label_sources(sources, options)
    with _encoded(sources, options, checkpoint, context) as (text, notes):
        stream, totals = map_documents(text, sources, options, context, sink, passages)
        return EncodedCorpus(text.vocabulary, stream, sources, *totals, notes)


def encode_texts(
    names: list[str],
    options: CorpusOptions,
    words: list[str],
    context: Context,
    more: Choose | None = None,
) -> EncodedCorpus:
    """Read files and return every token of their texts, with an id V + 1 after each text.

    words: the V words, as the tokeniser normalises them; more: returns which of the other words of
    the texts follow them, if any. Any other token has the id V, which stands last in the
    vocabulary. Texts are documents as in `encode_documents`, but each line of plain text is one,
    even without a token. Errors as in `encode`.
    """
    sources = [Source(name, listed=True, every_line=options.document == "line") for name in names]
    label_sources(sources, options)
    lists = WordLists(words, [], [], others=True, more=more)
    with _encoded(sources, options, None, context, lists) as (text, notes):
        counts = text.vocabulary.counts
        others = text.tokens - int(counts.sum())
        vocabulary = Vocabulary([*text.vocabulary.words, ""], np.append(counts, others))
        text = replace(text, vocabulary=vocabulary)
        stream, totals = map_documents(text, sources, options, context, None)
        return EncodedCorpus(vocabulary, stream, sources, *totals, notes)


@contextmanager
def _encoded(
    sources: list[Source],
    options: CorpusOptions,
    checkpoint: CorpusCheckpoint | None,
    context: Context,
    lists: WordLists | None = None,
) -> Iterator[tuple[EncodedText, list[str]]]:
    """Lend the text in ids, with phrases joined, and the notes on it; lists: those of `options`."""
    lists = read_word_lists(options) if lists is None else lists
    with ExitStack() as reading, ExitStack() as joining:
        try:
            encoded = _read(sources, options, lists, checkpoint, context, reading)
            if options.phrases:
                text = as_text(encoded, context)
                reading.close()
                encoded = joining.enter_context(with_phrases(text, lists, options, context))
        except InputError as error:
            where = error.where or " ".join(source.name for source in sources)
            raise InputError(error.what, where=where, found=error.found, do=error.do) from None
        words = encoded.vocabulary.words
        tables = tokeniser_of(options)
        notes = word_list_notes(lists, words, tables)
        yield encoded, [*encoded.notes, *notes]


def _read(
    sources: list[Source],
    options: CorpusOptions,
    lists: WordLists,
    checkpoint: CorpusCheckpoint | None,
    context: Context,
    resources: ExitStack,
) -> EncodedText:
    """Read everything and merge the runs; the storage of the text is closed with `resources`."""
    tables = tokeniser_of(options)
    room, threads = data_room(context.memory), context.pool.threads
    runs = resources.enter_context(Runs(room, threads, context.scratch))
    checkpoint = checkpoint or CorpusCheckpoint(context.scratch, ids_limit(context))
    total = total_bytes(sources, options)
    segments = read_segments(sources, total, tables, options, runs, checkpoint, context, resources)
    merged = merge_runs(runs, _selection(lists, options, context), context)
    if not merged.statistics.tokens and not lists.others:
        what = f"contains no words in {sum(s.bytes for s in sources):,} bytes"
        do = "check the file" if options.token_pattern is None else "check --token-pattern"
        raise InputError(what, do="; ".join(skipped_note(sources)) or do)
    return context.pool.call(lambda: as_read(segments, merged, lists, options, threads))


def _selection(lists: WordLists, options: CorpusOptions, context: Context) -> Selection:
    if lists.vocabulary is not None:
        at_least = _NEVER if lists.more is None else 1
        return Selection(lists.all, at_least, 0, words_limit(context))
    max_vocab = 0 if options.phrases else options.max_vocab
    return Selection(lists.all, options.min_count, max_vocab, words_limit(context))


def total_bytes(sources: Sequence[Source], options: CorpusOptions) -> int | None:
    """Return the bytes of text to read; None for compressed files, pipes, records and k-mers."""
    total = 0
    for source in sources:
        if is_stream(source.name) or is_compressed(source.name):
            return None
        if formats.format_of(source.name, options) != "text" or options.tokeniser == "kmer":
            return None
        start, stop = source.span or (0, file_stamp(source.name)["size"])
        total += stop - start
    return total
