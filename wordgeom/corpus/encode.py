"""Text → one stream of word ids, read once: provisional ids first, mapped when the words are cut.

Every thread tokenises blocks with a lexicon of its own, so that nothing is shared; the ids are
provisional and mean something in a run of that lexicon only. After the last block the runs are
joined, the vocabulary is cut, and one pass maps the ids. Documents stand `gap` ids apart, so that a
window that looks that far never reaches across.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np

from wordgeom.corpus import forms, kernels
from wordgeom.corpus.chosen import NamedWords, notes, read_named
from wordgeom.corpus.coded import Coded, as_read, as_text, with_phrases
from wordgeom.corpus.joining import Wanted, join
from wordgeom.corpus.means import Means
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.readers import Source, file_stamp, is_packed, is_stream
from wordgeom.corpus.reading import read_segments
from wordgeom.corpus.segments import Keeper, Unkept
from wordgeom.corpus.spilling import Runs
from wordgeom.corpus.spool import Ids, Sink
from wordgeom.corpus.tokenisers import tokeniser
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.errors import InputError
from wordgeom.pool import Pool
from wordgeom.progress import Progress
from wordgeom.types import Float64, Int64

_MAPPED = 1 << 22  # ids mapped at once where the stream goes to a file
_NEVER = 1 << 62  # occurrences


@dataclass
class Encoded:
    """A corpus as ids.

    stream: int32 in [0, V], where V stands for a gap or a token without a row; with `ends`, gaps
    are V + 1; tokens: all that were read, a phrase being one; kept: those with an id below V;
    documents; short: those below `short` tokens; notes: what the user should be told.
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
    *,
    gap: int,
    short: int,
    seed: int,
    memory: int,
    folder: str | None,
    pool: Pool,
    progress: Progress,
    ends: bool = False,
    sink: Callable[[int], Sink] | None = None,
    keeper: Keeper | None = None,
) -> Encoded:
    """Read the files `names` (- is standard input) and return them as one stream of ids.

    gap: ids between documents; short: documents below so many tokens are counted; seed: for
    --sample; memory: bytes of the program: ids and words beyond a share of them go to `folder`;
    ends: documents are told from tokens without a row, by ids V + 1 between them; sink: makes what
    takes a stream that is too long for memory, given the id of what is outside of it; keeper:
    keeps what was read of a long text.
    Raises MissingInputError, InputError, FormatError, OptionError, StaleError, WriteError.
    """
    named = read_named(options)
    sources = [Source(name) for name in names]
    means = Means(memory, folder, pool, progress)
    with ExitStack() as reading, ExitStack() as joining:
        try:
            coded = _read(sources, options, named, keeper, means, reading)
            if options.phrases:
                text = as_text(coded, means)
                reading.close()
                coded = joining.enter_context(with_phrases(text, named, options, means))
        except InputError as error:
            where = error.where or " ".join(names)
            raise InputError(error.what, where=where, found=error.found, do=error.do) from None
        stream, state = _map_all(coded, options, gap, ends, short, seed, means, sink)
    words = coded.vocabulary
    told = [*coded.notes, *notes(named, words.words, tokeniser(options.tokeniser))]
    return Encoded(
        words,
        stream,
        sources,
        tokens=int(state[0]),
        kept=int(state[5]),
        documents=int(state[1]),
        short=int(state[4] + (0 < state[2] < short)),
        notes=told,
    )


def _read(
    sources: list[Source],
    options: CorpusOptions,
    named: NamedWords,
    keeper: Keeper | None,
    means: Means,
    held: ExitStack,
) -> Coded:
    """Read and join all; what holds the text is closed with `held`."""
    tables = tokeniser(options.tokeniser)
    runs = held.enter_context(Runs(means.memory, means.pool.threads, means.folder))
    keeper = keeper or Unkept(means.folder, means.ids_room)
    total = _total(sources, options)
    segments = read_segments(sources, total, tables, options, runs, keeper, means, held)
    joined = join(runs, _wanted(named, options, means), means)
    if not joined.tokens:
        found = f"{sum(s.bytes for s in sources):,} bytes"
        raise InputError("holds no word", found=found, do="check the file")
    threads = means.pool.threads
    return means.pool.call(lambda: as_read(segments, joined, named, options, threads))


def _wanted(named: NamedWords, options: CorpusOptions, means: Means) -> Wanted:
    if named.given is not None:
        return Wanted(named.all, _NEVER, 0, means.words_room)
    at_most = 0 if options.phrases else options.max_vocab
    return Wanted(named.all, options.min_count, at_most, means.words_room)


def _map_all(
    coded: Coded,
    options: CorpusOptions,
    gap: int,
    ends: bool,
    short: int,
    seed: int,
    means: Means,
    sink: Callable[[int], Sink] | None,
) -> tuple[Sink, Int64]:
    """Return the stream of rows and the kernel's state, which has counted it."""
    V = len(coded.vocabulary)
    keep = _keep_probability(coded.vocabulary, coded.tokens, options.sample)
    drop = options.oov == "drop"
    state = np.zeros(6, np.int64)
    memory = means.spool()
    capacity = coded.length + coded.boundaries * gap
    # One array for all, where it fits; it is filled from the front and never copied.
    whole = np.empty(capacity, np.int32) if memory.holds(capacity) else None
    stream: Sink = memory if whole is not None or sink is None else sink(V + ends)
    most = max(1, _MAPPED // (gap + 1))  # an id becomes at most a gap and itself
    try:
        for ids, rows in coded.parts:
            for start in range(0, len(ids), most):
                part = ids[start : start + most]
                out = np.empty(_MAPPED, np.int32) if whole is None else whole[stream.length :]
                n = kernels.map_ids(
                    part, rows, V, drop, keep, seed, gap, V + ends, short, state, out
                )
                stream.append(out[:n])
    except BaseException:
        stream.close()
        raise
    return stream, state


def _total(sources: list[Source], options: CorpusOptions) -> int | None:
    """Return the bytes of text to come; None where only reading tells: packed, piped, records."""
    for source in sources:
        if is_stream(source.name) or is_packed(source.name):
            return None
        if forms.form_of(source.name, options) != "text" or options.tokeniser == "kmer":
            return None
    return sum(file_stamp(s.name)["size"] for s in sources)


def _keep_probability(words: Vocabulary, tokens: int, threshold: float) -> Float64:
    """(V + 1) probability that a token is kept, word2vec's (√(f/t) + 1) t/f; empty for all."""
    if threshold == 0.0:
        return np.empty(0, np.float64)
    frequency = np.maximum(words.counts, 1) / tokens
    keep = (np.sqrt(frequency / threshold) + 1) * threshold / frequency
    return np.append(np.minimum(keep, 1.0), 1.0)
