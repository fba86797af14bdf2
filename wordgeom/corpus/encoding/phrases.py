"""Detect phrases: join pairs of adjacent words with high PMI to one token `a_b`, in passes.

word2phrase (Mikolov et al. 2013, Distributed representations of words and phrases and their
compositionality, §4, equation 6) scores a pair by (c_ab − δ) / (c_a c_b). Times T, the number of
tokens, and as a logarithm, this is the PMI of the pair with its count reduced by δ = --min-count,
which keeps chance pairs of rare words apart. Pairs are counted exactly. Each pass treats the
phrases of the one before as words.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Int32, Int64
from wordgeom.corpus.encoding import phrase_kernels
from wordgeom.corpus.encoding.memory_limits import id_stream, words_limit
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import lexicon_kernels as kernels
from wordgeom.corpus.tokens.candidate_types import check_vocabulary_fits
from wordgeom.counts.cooccurrence import chunk_tokens, count
from wordgeom.counts.count_rows import Rows, block_entries, value_type
from wordgeom.counts.partial_counts import ScratchParts
from wordgeom.counts.plan import Plan
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import data_room
from wordgeom.storage.files import Closing
from wordgeom.storage.id_stream import Spool, copy_around

_JOINT = "_"
_STEP = 1 << 21  # ids processed at once: about .05 s


class Text(Closing):
    """A text in ids: words, the hole (every token without a row), and negative separators.

    words: the word of each id, "" for that of the hole.
    """

    def __init__(self, words: list[str], hole: int, stream: Spool) -> None:
        self.words, self.hole, self.stream = words, hole, stream

    def close(self) -> None:
        """Close the stream."""
        self.stream.close()

    def steps(self) -> Iterator[Int32]:
        """Yield all ids in blocks."""
        for start in range(0, self.stream.length, _STEP):
            yield self.stream.read(start, start + _STEP)

    def boundaries(self) -> int:
        """Return the number of ids that separate documents."""
        return sum(int(np.count_nonzero(ids < 0)) for ids in self.steps())

    def count(self) -> tuple[Int64, Int64]:
        """(ids), (ids) the count and the first position of each id."""
        counts, firsts = np.zeros((2, len(self.words)), np.int64)
        at = 0
        for ids in self.steps():
            phrase_kernels.recount(ids, at, counts, firsts)
            at += len(ids)
        return counts, firsts


class _PairStream:
    """A text as the stream whose adjacent words are counted; non-words have the id len(words)."""

    in_place = False

    def __init__(self, text: Text) -> None:
        self._text = text
        self.length = text.stream.length

    def read(self, start: int, stop: int) -> Int32:
        """Return ids[start:stop], as far as they exist."""
        ids = self._text.stream.read(start, stop)
        nothing = (ids < 0) | (ids == self._text.hole)
        return np.where(nothing, np.int32(len(self._text.words)), ids)

    def around(self, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
        """Return ids with at least `reach` around [begin:end), and the index of `begin` in them."""
        return copy_around(self, begin, end, reach, nowhere)

    def close(self) -> None:
        """Do nothing; the text owns the stream."""


@dataclass(frozen=True)
class Pairs:
    """Chosen pairs, sorted: (pairs) first words and (pairs) second words."""

    firsts: Int32
    seconds: Int32


def join_phrases(text: Text, options: CorpusOptions, never: set[str], context: Context) -> Text:
    """Return the text after --phrases passes; closes `text`. never: strings that are no phrases.

    Raises InputError if the phrases do not fit in memory, WriteError.
    """
    for number in range(1, options.phrases + 1):
        pairs = _choose(text, options, number, context)
        with text:
            words, pairs, phrases = _name(text.words, pairs, never)
            check_vocabulary_fits(len(words), words_limit(context))
            joined = _join(text, words, pairs, phrases, id_stream(context))
        text = joined
        if not len(phrases):
            break
    return text


def _choose(text: Text, options: CorpusOptions, number: int, context: Context) -> Pairs:
    """Return the pairs of adjacent words that pass the threshold; number: of the pass."""
    counts, _ = text.count()
    least = math.exp(options.phrase_threshold) / int(counts.sum())
    discount = float(options.min_count)
    chosen = [(np.empty(0, np.int32), np.empty(0, np.int32))]
    for block in _pair_counts(text, counts, number, context):
        firsts = np.repeat(np.arange(len(block.lengths), dtype=np.int32), block.lengths)
        firsts += block.start
        expected = least * counts[firsts].astype(np.float64) * counts[block.indices]
        good = (block.values > discount) & (block.values - discount >= expected)
        chosen.append((firsts[good], block.indices[good]))
    return Pairs(*(np.concatenate(column) for column in zip(*chosen, strict=True)))


def _pair_counts(text: Text, counts: Int64, number: int, context: Context) -> Iterator[Rows]:
    """Yield the counts of pairs of adjacent words in blocks of rows, one row a first word."""
    right_neighbour = np.array([0, 0, 1], np.int32)
    words = len(counts)
    room, dtype = data_room(context.memory), value_type(2 * int(counts.max(initial=0)))
    entries = block_entries(room // 4, context.pool.threads, dtype)
    plan = Plan(words, right_neighbour, False, dtype, entries=entries)
    stream, parts = _PairStream(text), ScratchParts(context.scratch)
    chunk = chunk_tokens(room, 8)
    rows, _ = count(stream, 0, stream.length, plan, chunk, parts, context.pool, context.progress)
    label = f"detecting phrases, pass {number}"
    return context.progress.follow(rows, label, words, "rows", lambda r: len(r.lengths))


def _name(words: list[str], pairs: Pairs, never: set[str]) -> tuple[list[str], Pairs, Int32]:
    """Return the words with phrases appended, the pairs to join, and the phrase id of each pair.

    A phrase spelt like a known word or phrase gets the id of that one.
    """
    words = words.copy()
    ids = {word: k for k, word in enumerate(words)}
    phrases = np.full(len(pairs.firsts), -1, np.int32)
    both = zip(pairs.firsts.tolist(), pairs.seconds.tolist(), strict=True)
    for k, (first, second) in enumerate(both):
        phrase = words[first] + _JOINT + words[second]
        if phrase in never or len(phrase.encode("utf-8")) >= kernels.MAX_TOKEN:
            continue
        phrases[k] = ids.setdefault(phrase, len(words))
        if phrases[k] == len(words):
            words.append(phrase)
    valid = phrases >= 0
    return words, Pairs(pairs.firsts[valid], pairs.seconds[valid]), phrases[valid]


def _join(text: Text, words: list[str], pairs: Pairs, phrases: Int32, stream: Spool) -> Text:
    """Return the text with the pairs joined."""
    starts = np.searchsorted(pairs.firsts, np.arange(len(text.words) + 1))
    state = np.array([phrase_kernels.NOTHING])
    try:
        for ids in text.steps():
            out = np.empty(len(ids) + 1, np.int32)
            n = phrase_kernels.join_pairs(ids, starts, pairs.seconds, phrases, state, out)
            # Most of the memory is used, or freed.
            stream.append(out[:n] if 8 * n > 7 * len(out) else out[:n].copy())
        if state[0] != phrase_kernels.NOTHING:
            stream.append(state.astype(np.int32))
    except BaseException:
        stream.close()
        raise
    return Text(words, text.hole, stream)
