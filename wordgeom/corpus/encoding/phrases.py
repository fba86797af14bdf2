"""Phrases: pairs of neighbours that belong together, joined to one token `a_b`, pass after pass.

After word2phrase (Mikolov et al. 2013, Distributed representations of words and phrases and their
compositionality, §4), equation 6: a pair scores (c_ab − δ) / (c_a c_b), here times T, the tokens of
the text, and as a logarithm: the PMI of the pair with its count lowered by δ = --min-count, so that
rare words that met by chance are not joined. Pairs are counted exactly. A second pass sees the
phrases of the first as tokens, and so on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.corpus.encoding import phrase_kernels
from wordgeom.corpus.encoding.room import id_stream, words_room
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens import kernels
from wordgeom.corpus.tokens.retained_types import refuse_too_many
from wordgeom.runtime.context import Context
from wordgeom.storage.files import Closing
from wordgeom.storage.id_stream import Spool, copy_around

JOINT = "_"
STEP = 1 << 21  # ids taken at once: about .05 s


class Text(Closing):
    """A text in ids: word k, a hole (a token without a row), or what stands between documents.

    words: the texts; "" for the hole, which has an id as words do.
    """

    def __init__(self, words: list[str], hole: int, stream: Spool) -> None:
        self.words, self.hole, self.stream = words, hole, stream

    def close(self) -> None:
        """Let go of the stream."""
        self.stream.close()

    def steps(self) -> Iterator[Int32]:
        """Yield all ids, some at a time."""
        for start in range(0, self.stream.length, STEP):
            yield self.stream.read(start, start + STEP)

    def boundaries(self) -> int:
        """Return how many ids stand between documents."""
        return sum(int(np.count_nonzero(ids < 0)) for ids in self.steps())

    def count(self) -> tuple[Int64, Int64]:
        """(ids), (ids) how often each occurs, and where first."""
        counts, firsts = np.zeros((2, len(self.words)), np.int64)
        at = 0
        for ids in self.steps():
            phrase_kernels.recount(ids, at, counts, firsts)
            at += len(ids)
        return counts, firsts


class _Counted:
    """A text as windows are counted in it: what is no word is the id behind all words."""

    in_place = False

    def __init__(self, text: Text) -> None:
        self._text = text
        self.length = text.stream.length

    def read(self, start: int, stop: int) -> Int32:
        """Return ids[start:stop]; what lies outside is left out."""
        ids = self._text.stream.read(start, stop)
        nothing = (ids < 0) | (ids == self._text.hole)
        return np.where(nothing, np.int32(len(self._text.words)), ids)

    def around(self, begin: int, end: int, reach: int, nowhere: int) -> tuple[Int32, int]:
        """Return ids with at least `reach` around [begin:end), and where `begin` lies in them."""
        return copy_around(self, begin, end, reach, nowhere)

    def close(self) -> None:
        """Let go of nothing: the text is another's."""


@dataclass(frozen=True)
class Pairs:
    """Chosen pairs: (pairs) first words, ascending, and second words, ascending for each first."""

    firsts: Int32
    seconds: Int32


def join_phrases(text: Text, options: CorpusOptions, never: set[str], context: Context) -> Text:
    """Return the text after --phrases passes; `text` is closed. never: what may be no phrase.

    Raises InputError where the phrases do not fit in memory, WriteError.
    """
    for number in range(1, options.phrases + 1):
        pairs = _choose(text, options, number, context)
        with text:
            words, pairs, joined = _name(text.words, pairs, never)
            refuse_too_many(len(words), words_room(context))
            made = _join(text, words, pairs, joined, id_stream(context))
        text = made
        if not len(joined):
            break
    return text


def _choose(text: Text, options: CorpusOptions, number: int, context: Context) -> Pairs:
    """Return the pairs of neighbours that belong together."""
    from wordgeom.counts.cooccurrence import Plan, chunk_tokens, count
    from wordgeom.counts.count_rows import value_type
    from wordgeom.counts.partial_counts import ScratchParts

    counts, _ = text.count()
    right_neighbour = np.array([0, 0, 1], np.int32)
    words = len(counts)
    plan = Plan(words, right_neighbour, False, value_type(2 * int(counts.max(initial=0))))
    stream, chunk, parts = (
        _Counted(text),
        chunk_tokens(context.memory, 8),
        ScratchParts(context.scratch),
    )
    rows, _ = count(stream, 0, stream.length, plan, chunk, parts, context.pool, context.progress)
    label = f"looking for phrases, pass {number}"
    followed = context.progress.follow(rows, label, words, "rows", lambda r: len(r.lengths))
    least = math.exp(options.phrase_threshold) / int(counts.sum())
    discount = float(options.min_count)
    chosen = [(np.empty(0, np.int32), np.empty(0, np.int32))]
    for block in followed:
        firsts = np.repeat(np.arange(len(block.lengths), dtype=np.int32), block.lengths)
        firsts += block.start
        expected = least * counts[firsts].astype(np.float64) * counts[block.indices]
        good = (block.values > discount) & (block.values - discount >= expected)
        chosen.append((firsts[good], block.indices[good]))
    return Pairs(*(np.concatenate(column) for column in zip(*chosen, strict=True)))


def _name(words: list[str], pairs: Pairs, never: set[str]) -> tuple[list[str], Pairs, Int32]:
    """Return the words with the phrases behind them, the pairs to join, and what each becomes.

    A phrase that reads as another word or phrase becomes that one.
    """
    words = words.copy()
    ids = {word: k for k, word in enumerate(words)}
    joined = np.full(len(pairs.firsts), -1, np.int32)
    both = zip(pairs.firsts.tolist(), pairs.seconds.tolist(), strict=True)
    for k, (first, second) in enumerate(both):
        phrase = words[first] + JOINT + words[second]
        if phrase in never or len(phrase.encode("utf-8")) >= kernels.MAX_TOKEN:
            continue
        joined[k] = ids.setdefault(phrase, len(words))
        if joined[k] == len(words):
            words.append(phrase)
    named = joined >= 0
    return words, Pairs(pairs.firsts[named], pairs.seconds[named]), joined[named]


def _join(text: Text, words: list[str], pairs: Pairs, joined: Int32, stream: Spool) -> Text:
    """Return the text with the pairs joined."""
    starts = np.searchsorted(pairs.firsts, np.arange(len(text.words) + 1))
    state = np.array([phrase_kernels.NOTHING])
    made = Text(words, text.hole, stream)
    try:
        for ids in text.steps():
            out = np.empty(len(ids) + 1, np.int32)
            n = phrase_kernels.join_pairs(ids, starts, pairs.seconds, joined, state, out)
            stream.append(_trimmed(out, n))
        if state[0] != phrase_kernels.NOTHING:
            stream.append(state.astype(np.int32))
    except BaseException:
        stream.close()
        raise
    return made


def _trimmed(array: Array, length: int) -> Array:
    """Return the front of an array, without holding the rest where much of it is not used."""
    return array[:length] if 8 * length > 7 * len(array) else array[:length].copy()
