"""A text in ids and the way from them to rows: by runs, as it was read, or with phrases joined."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural, several
from wordgeom.core.types import Int32, Int64
from wordgeom.corpus import vocabulary
from wordgeom.corpus.encoding.phrases import Text, join_phrases
from wordgeom.corpus.encoding.room import id_stream
from wordgeom.corpus.encoding.segments import Segment
from wordgeom.corpus.encoding.word_lists import NamedWords
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens.merge_lexicons import Joined
from wordgeom.corpus.vocabulary import Vocabulary
from wordgeom.runtime.context import Context

_SHOWN = 5


@dataclass(frozen=True)
class Coded:
    """A text in ids. vocabulary: the words with a row; parts: yields ids and, for them, id → row.

    What has no row has row V; what is negative stands between documents (kernels.py). length,
    boundaries: of the ids, at most; tokens: how many words in all, a phrase being one; notes: for
    the user.
    """

    vocabulary: Vocabulary
    parts: Iterator[tuple[Int32, Int32]]
    length: int
    boundaries: int
    tokens: int
    notes: tuple[str, ...] = ()


def as_read(
    segments: list[Segment], joined: Joined, named: NamedWords, options: CorpusOptions, threads: int
) -> Coded:
    """Return the text as it was read. Raises InputError where no word gets a row."""
    chosen = _chosen(joined, named, options)
    words = [joined.table.word(k).decode("utf-8") for k in chosen.tolist()]
    rows = _rows(len(joined.table), chosen)

    @lru_cache(maxsize=threads)  # pieces come in their order: a run of each thread at a time
    def of_run(run: int) -> Int32:
        return rows[joined.ids(run)]

    return Coded(
        Vocabulary(words, joined.table.counts[chosen].copy()),
        ((ids, of_run(run)) for segment in segments for run, ids in segment.parts()),
        sum(segment.ids.length for segment in segments),
        sum(segment.boundaries for segment in segments),
        joined.tokens,
    )


def _chosen(joined: Joined, named: NamedWords, options: CorpusOptions) -> Int64:
    """Return the ids in the table of the words that get a row."""
    if named.given is not None:
        if not joined.table.counts[joined.named].any():
            found = f"{plural(len(named.given), 'word')} in {options.read_vocab}"
            do = "check --read-vocab and --tokeniser"
            raise InputError("holds none of the vocabulary's words", found=found, do=do)
        return joined.named
    stop, keep = np.split(joined.named, [len(named.stop)])
    # The most frequent words are taken last, when phrases are known.
    most = 0 if options.phrases else options.max_vocab
    table = joined.table
    chosen = vocabulary.cut(table.counts, table.firsts, options.min_count, most, stop, keep)
    if not len(chosen):
        raise _no_word(options, joined.types, joined.most)
    return chosen


def as_text(coded: Coded, context: Context) -> Text:
    """Return the text in the ids of its words alone, nothing of how it was read being needed."""
    words = coded.vocabulary.words
    text = Text([*words, ""], len(words), id_stream(context))
    try:
        for ids, rows in coded.parts:
            text.stream.append(np.where(ids < 0, ids, rows[np.maximum(ids, -1)]))
    except BaseException:
        text.close()
        raise
    return text


@contextmanager
def with_phrases(
    text: Text, named: NamedWords, options: CorpusOptions, context: Context
) -> Iterator[Coded]:
    """Lend the text with phrases joined. Raises InputError where no word gets a row, WriteError."""
    text = join_phrases(text, options, set(named.stop), context)
    with text:
        counts, firsts = text.count()
        yield context.pool.call(lambda: _phrased(text, counts, firsts, named, options))


def _phrased(
    text: Text, counts: Int64, firsts: Int64, named: NamedWords, options: CorpusOptions
) -> Coded:
    tokens = int(counts.sum())
    counts[text.hole] = 0
    keep = set(named.keep)
    stay = np.array([k for k, word in enumerate(text.words) if word in keep], np.int64)
    least, most = options.min_count, options.max_vocab
    chosen = vocabulary.cut(counts, firsts, least, most, keep=stay)
    if not len(chosen):
        raise _no_word(options, int(np.count_nonzero(counts)), int(counts.max()))
    rows = _rows(len(counts), chosen)
    words = [text.words[k] for k in chosen.tolist()]
    found = [word for word, k in zip(words, chosen.tolist(), strict=True) if k > text.hole]
    return Coded(
        Vocabulary(words, counts[chosen]),
        ((ids, rows) for ids in text.steps()),
        text.stream.length,
        text.boundaries(),
        tokens,
        (_phrases_note(found),),
    )


def _phrases_note(found: list[str]) -> str:
    if not found:
        return "no phrases were found; a lower --phrase-threshold finds more"
    more = ", …" if len(found) > _SHOWN else ""
    rows = several(len(found), "phrase has a row", "phrases have a row")
    return f"{rows}: {', '.join(found[:_SHOWN])}{more}"


def _rows(types: int, chosen: Int64) -> Int32:
    """(types + 1) the row of each id, V for none; the last is for the id -1."""
    rows = np.full(types + 1, len(chosen), np.int32)
    rows[chosen] = np.arange(len(chosen), dtype=np.int32)
    return rows


def _no_word(options: CorpusOptions, types: int, most: int) -> InputError:
    named = options.stop_words is not None
    return InputError(
        f"no word occurs {options.min_count} times" + (" that is no stop word" if named else ""),
        found=f"{types:,} different words, the most frequent {most:,} times",
        do="lower --min-count" + (" or shorten --stop-words" if named else ""),
    )
