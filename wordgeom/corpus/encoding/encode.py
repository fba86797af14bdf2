"""Text → one stream of word ids, read once: provisional ids first, mapped when the words are cut.

Every thread tokenises blocks with a lexicon of its own, so that nothing is shared; the ids are
provisional and mean something in a run of that lexicon only. After the last block the runs are
joined, the vocabulary is cut, and one pass maps the ids. Documents stand `gap` ids apart, so that a
window that looks that far never reaches across.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field

from wordgeom.core.errors import InputError
from wordgeom.corpus.encoding.encoded_text import Coded, as_read, as_text, with_phrases
from wordgeom.corpus.encoding.room import ids_room, words_room
from wordgeom.corpus.encoding.row_mapping import Counted, MakeSink, map_documents, map_windows
from wordgeom.corpus.encoding.segment_reader import read_segments
from wordgeom.corpus.encoding.segments import Keeper, Unkept
from wordgeom.corpus.encoding.word_lists import NamedWords, notes, read_named
from wordgeom.corpus.inputs.readers import Source, file_stamp, is_packed, is_stream
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records import formats
from wordgeom.corpus.tokens.merge_lexicons import Wanted, join
from wordgeom.corpus.tokens.spill import Runs
from wordgeom.corpus.tokens.tokenisers import tokeniser
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.runtime.context import Context
from wordgeom.storage.id_stream import Ids, Sink

_NEVER = 1 << 62  # occurrences


@dataclass
class Encoded:
    """A corpus as ids.

    stream: int32 in [0, V], where V stands for a gap or a token without a row; with `ends`, gaps
    are V + 1; tokens: all that were read, a phrase being one; kept: those with an id below V;
    documents: those with a token; short: those below `short` tokens; notes: what the user should be
    told.
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
    names: list[str],
    options: CorpusOptions,
    context: Context,
    *,
    gap: int,
    short: int,
    ends: bool = False,
    sink: MakeSink | None = None,
    keeper: Keeper | None = None,
) -> Encoded:
    """Read the files `names` (- is standard input) and return them as one stream of ids.

    gap: ids between documents; short: documents below so many tokens are counted; context: ids and
    words beyond a share of its memory go to scratch space; ends: separate documents by ids V + 1;
    sink: makes what takes a stream that is too long for memory; keeper: saves what was read.
    Raises MissingInputError, InputError, FormatError, OptionError, StaleError, WriteError.
    """
    sources = [Source(name) for name in names]
    with _coded(sources, options, keeper, context) as (coded, told):
        stream, counted = map_windows(coded, options, gap, ends, short, context, sink)
        return _encoded(coded, stream, sources, counted, told)


def encode_documents(
    names: list[str],
    options: CorpusOptions,
    context: Context,
    *,
    sink: MakeSink | None = None,
    keeper: Keeper | None = None,
) -> Encoded:
    """Read files and return the words of their documents, an id V after each document.

    What has no row is left out. A record and, with `--document file`, a file is a document whatever
    it holds; a line or a block is one if it holds a token. Each has its place in its source's
    `documents`. Arguments and errors as in `encode`.
    """
    sources = [Source(name, listed=True) for name in names]
    with _coded(sources, options, keeper, context) as (coded, told):
        stream, counted = map_documents(coded, sources, options, context, sink)
        return _encoded(coded, stream, sources, counted, told)


@contextmanager
def _coded(
    sources: list[Source], options: CorpusOptions, keeper: Keeper | None, context: Context
) -> Iterator[tuple[Coded, list[str]]]:
    """Lend the text in ids, read and joined, and what the user should be told of it."""
    named = read_named(options)
    with ExitStack() as reading, ExitStack() as joining:
        try:
            coded = _read(sources, options, named, keeper, context, reading)
            if options.phrases:
                text = as_text(coded, context)
                reading.close()
                coded = joining.enter_context(with_phrases(text, named, options, context))
        except InputError as error:
            where = error.where or " ".join(source.name for source in sources)
            raise InputError(error.what, where=where, found=error.found, do=error.do) from None
        words = coded.vocabulary.words
        yield coded, [*coded.notes, *notes(named, words, tokeniser(options.tokeniser))]


def _encoded(
    coded: Coded, stream: Sink, sources: list[Source], counted: Counted, told: list[str]
) -> Encoded:
    return Encoded(
        coded.vocabulary, stream, sources, counted.tokens, counted.kept, counted.documents,
        counted.short, told,
    )  # fmt: skip


def _read(
    sources: list[Source],
    options: CorpusOptions,
    named: NamedWords,
    keeper: Keeper | None,
    context: Context,
    held: ExitStack,
) -> Coded:
    """Read and join all; what holds the text is closed with `held`."""
    tables = tokeniser(options.tokeniser)
    runs = held.enter_context(Runs(context.memory, context.pool.threads, context.scratch))
    keeper = keeper or Unkept(context.scratch, ids_room(context))
    total = _total(sources, options)
    segments = read_segments(sources, total, tables, options, runs, keeper, context, held)
    joined = join(runs, _wanted(named, options, context), context)
    if not joined.tokens:
        found = f"{sum(s.bytes for s in sources):,} bytes"
        raise InputError("holds no word", found=found, do="check the file")
    threads = context.pool.threads
    return context.pool.call(lambda: as_read(segments, joined, named, options, threads))


def _wanted(named: NamedWords, options: CorpusOptions, context: Context) -> Wanted:
    if named.given is not None:
        return Wanted(named.all, _NEVER, 0, words_room(context))
    at_most = 0 if options.phrases else options.max_vocab
    return Wanted(named.all, options.min_count, at_most, words_room(context))


def _total(sources: list[Source], options: CorpusOptions) -> int | None:
    """Return the bytes of text to come; None where only reading tells: packed, piped, records."""
    for source in sources:
        if is_stream(source.name) or is_packed(source.name):
            return None
        if formats.form_of(source.name, options) != "text" or options.tokeniser == "kmer":
            return None
    return sum(file_stamp(s.name)["size"] for s in sources)
