"""Sentences for peers: the documents of the counts as lists of tokens.

They are read by wordgeom's reader and tokeniser and hold only words of the counts' vocabulary, so
that every row of a comparison has the same tokens and words. Documents are cut at 10,000 tokens,
since gensim silently drops the rest of longer ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from wordgeom.corpus.options import CorpusOptions
from wordgeom.matrices.opening import open_any
from wordgeom.peers import Sentences
from wordgeom.runtime.context import Context

if TYPE_CHECKING:
    from wordgeom.corpus.encoding.encode import EncodedCorpus

LONGEST = 10_000  # tokens of a sentence, gensim's MAX_WORDS_IN_BATCH
SENTENCES = f"sentences of the peers are the documents of the counts, cut at {LONGEST:,} tokens"
_IDS = 1 << 16  # ids read at a time


@dataclass(frozen=True)
class Text:
    """Files, the options with which they were read and tokenised, and the counts of their words.

    matrix: None for all words that occur as often as the options say.
    """

    names: tuple[str, ...]
    options: CorpusOptions
    matrix: str | None = None


@contextlib.contextmanager
def open_sentences(
    text: Text, context: Context, report: Callable[[int, int], None] = lambda *_: None
) -> Iterator[Sentences]:
    """Yield the sentences of a text. Raises MissingInputError, InputError, FormatError.

    report: called with ids read, and the ids of the text, on every iteration.
    """
    from wordgeom.corpus.encoding.encode import encode
    from wordgeom.corpus.inputs.readers import Source

    # The matrix selects the words, since run cards do not name the word lists of the counts.
    # Phrases depend on the minimum count.
    counted = None if text.matrix is None else set(open_any(text.matrix).vocabulary.words)
    least = text.options.min_count if counted is None or text.options.phrases else 1
    options = replace(
        text.options, min_count=least, max_vocab=0, read_vocab=None, sample=0.0, oov="keep",
        stop_words=None, keep_words=None,
    )  # fmt: skip
    sources = [Source(name) for name in text.names]
    encoded = encode(sources, options, context, gap=1, short=0, ends=True)
    with contextlib.closing(encoded.stream):
        yield _Documents(encoded, counted, report)


class _Documents:
    """The documents of an encoded corpus, reduced to the words that were counted."""

    def __init__(
        self, encoded: EncodedCorpus, counted: set[str] | None, report: Callable[[int, int], None]
    ) -> None:
        self._stream, self._report, words = encoded.stream, report, encoded.vocabulary.words
        known = (word if counted is None or word in counted else None for word in words)
        self._words = [*known, None]  # the last one for tokens without a row

    def __iter__(self) -> Iterator[list[str]]:
        sentence: list[str | None] = []
        for ids, ends in self._runs():
            sentence += [self._words[k] for k in ids]
            while len(sentence) >= LONGEST:
                yield _known(sentence[:LONGEST])
                sentence = sentence[LONGEST:]
            if ends and sentence:
                yield _known(sentence)
                sentence = []

    def _runs(self) -> Iterator[tuple[list[int], bool]]:
        """Yield runs of ids within a document, and whether the document ends after them."""
        gap = len(self._words)
        for start in range(0, self._stream.length, _IDS):
            ids = self._stream.read(start, start + _IDS)
            begin = 0
            for end in np.flatnonzero(ids == gap).tolist():
                yield ids[begin:end].tolist(), True
                begin = end + 1
            yield ids[begin:].tolist(), False
            self._report(len(ids), self._stream.length)
        yield [], True


def _known(tokens: list[str | None]) -> list[str]:
    return [word for word in tokens if word is not None]
