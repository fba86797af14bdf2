"""A text in provisional ids with the map from ids to rows: as read, or with phrases joined."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural, several
from wordgeom.core.types import Int32, Int64
from wordgeom.corpus.encoding.memory_limits import id_stream
from wordgeom.corpus.encoding.phrases import Text, join_phrases
from wordgeom.corpus.encoding.segments import Segment
from wordgeom.corpus.encoding.word_lists import Choose, WordLists
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens.merge_lexicons import MergedLexicon
from wordgeom.corpus.vocabulary import Vocabulary, select_words
from wordgeom.runtime.context import Context

_SHOWN = 5


@dataclass(frozen=True)
class EncodedText:
    """A text in ids. vocabulary: the words with a row; parts: yields ids and their map id → row.

    The map gives V for an id without a row; negative ids separate documents (tokens/kernels.py).
    length, boundaries: upper bounds on the ids and on the separators; tokens: the number of words,
    a phrase being one; notes: for the user.
    """

    vocabulary: Vocabulary
    parts: Iterator[tuple[Int32, Int32]]
    length: int
    boundaries: int
    tokens: int
    notes: tuple[str, ...] = ()


def as_read(
    segments: list[Segment],
    merged: MergedLexicon,
    lists: WordLists,
    options: CorpusOptions,
    threads: int,
) -> EncodedText:
    """Return the text as it was read. Raises InputError if no word gets a row."""
    chosen = chosen_types(merged, lists, options)
    words = [merged.table.word(k).decode("utf-8") for k in chosen.tolist()]
    rows = _rows(len(merged.table), chosen)

    @lru_cache(maxsize=threads)  # pieces come in order, so one run of each thread at a time
    def rows_of_run(run: int) -> Int32:
        return rows[merged.ids(run)]

    return EncodedText(
        Vocabulary(words, merged.table.counts[chosen].copy()),
        ((ids, rows_of_run(run)) for segment in segments for run, ids in segment.parts()),
        sum(segment.ids.length for segment in segments),
        sum(segment.boundaries for segment in segments),
        merged.statistics.tokens,
    )


def chosen_types(merged: MergedLexicon, lists: WordLists, options: CorpusOptions) -> Int64:
    """Return the ids in the table of the words that get a row. Raises InputError for none."""
    table, listed = merged.table, merged.listed
    if lists.vocabulary is not None:
        if not lists.others and not table.counts[listed].any():
            if not len(lists.vocabulary):
                raise no_vocabulary(options)
            words = plural(len(lists.vocabulary), "word")
            what = f"contains none of the {words} in {options.read_vocab}"
            do = "check --read-vocab and --tokeniser"
            raise InputError(what, do=do)
        return listed if lists.more is None else _with_more(merged, lists.more)
    stop, keep = np.split(listed, [len(lists.stop)])
    # With phrases, --max-vocab applies after they are joined.
    most = 0 if options.phrases else options.max_vocab
    chosen = select_words(table.counts, table.firsts, options.min_count, most, stop, keep)
    if not len(chosen):
        raise _no_word(options, merged.statistics.types, merged.statistics.most)
    return chosen


def _with_more(merged: MergedLexicon, more: Choose) -> Int64:
    """Return the ids of the listed words and of those that `more` chooses from the others."""
    table, listed = merged.table, merged.listed
    others = select_words(table.counts, table.firsts, 1, 0, stop=listed)
    words = [table.word(k).decode("utf-8") for k in others.tolist()]
    chosen = set(more(words))
    return np.append(listed, others[[word in chosen for word in words]])


def no_vocabulary(options: CorpusOptions) -> InputError:
    """Return the error for a vocabulary file without words."""
    where = str(options.read_vocab)
    return InputError("contains no words", where=where, do="check --read-vocab")


def as_text(encoded: EncodedText, context: Context) -> Text:
    """Return the text in row ids, independent of the runs in which it was read."""
    words = encoded.vocabulary.words
    text = Text([*words, ""], len(words), id_stream(context))
    try:
        for ids, rows in encoded.parts:
            text.stream.append(np.where(ids < 0, ids, rows[np.maximum(ids, -1)]))
    except BaseException:
        text.close()
        raise
    return text


@contextmanager
def with_phrases(
    text: Text, lists: WordLists, options: CorpusOptions, context: Context
) -> Iterator[EncodedText]:
    """Lend the text with phrases joined. Raises InputError if no word gets a row, WriteError."""
    text = join_phrases(text, options, set(lists.stop), context)
    with text:
        counts, firsts = text.count()
        yield context.pool.call(lambda: _phrased(text, counts, firsts, lists, options))


def _phrased(
    text: Text, counts: Int64, firsts: Int64, lists: WordLists, options: CorpusOptions
) -> EncodedText:
    tokens = int(counts.sum())
    counts[text.hole] = 0
    listed = set(lists.keep)
    keep = np.array([k for k, word in enumerate(text.words) if word in listed], np.int64)
    chosen = select_words(counts, firsts, options.min_count, options.max_vocab, keep=keep)
    if not len(chosen):
        raise _no_word(options, int(np.count_nonzero(counts)), int(counts.max()))
    rows = _rows(len(counts), chosen)
    words = [text.words[k] for k in chosen.tolist()]
    phrases = [word for word, k in zip(words, chosen.tolist(), strict=True) if k > text.hole]
    return EncodedText(
        Vocabulary(words, counts[chosen]),
        ((ids, rows) for ids in text.steps()),
        text.stream.length,
        text.boundaries(),
        tokens,
        (_phrases_note(phrases),),
    )


def _phrases_note(phrases: list[str]) -> str:
    if not phrases:
        return "no phrases found; a lower --phrase-threshold finds more"
    more = ", …" if len(phrases) > _SHOWN else ""
    rows = several(len(phrases), "phrase", "phrases") + " in the vocabulary"
    return f"{rows}: {', '.join(phrases[:_SHOWN])}{more}"


def _rows(types: int, chosen: Int64) -> Int32:
    """(types + 1) the row of each id, V for none; the last entry is for the id -1."""
    rows = np.full(types + 1, len(chosen), np.int32)
    rows[chosen] = np.arange(len(chosen), dtype=np.int32)
    return rows


def _no_word(options: CorpusOptions, types: int, most: int) -> InputError:
    stop = options.stop_words is not None
    return InputError(
        f"no word {'except stop words ' if stop else ''}occurs {options.min_count} times "
        f"(the most frequent of {types:,} occurs {several(most, 'time', 'times')})",
        do="lower --min-count" + (" or shorten --stop-words" if stop else ""),
    )
