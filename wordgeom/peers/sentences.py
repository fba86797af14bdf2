"""Sentences for peers: the tokens of the co-occurrence counts as lists.

Text tokenised by white space is read by gensim's LineSentence, as its users do. Other text is read
by wordgeom's reader and tokeniser, and its documents are the sentences. Both are cut at 10,000
tokens, since gensim silently drops the rest of longer ones.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.corpus.inputs.readers import is_compressed
from wordgeom.corpus.options import CorpusOptions, case_of
from wordgeom.corpus.tokens.normal_forms import normaliser
from wordgeom.peers import Sentences
from wordgeom.runtime.context import Context

if TYPE_CHECKING:
    from wordgeom.corpus.encoding.encode import EncodedCorpus

LONGEST = 10_000  # tokens of a sentence, gensim's MAX_WORDS_IN_BATCH
_IDS = 1 << 16  # ids read at a time


@dataclass(frozen=True)
class Text:
    """Files, and the options with which they were read and tokenised."""

    names: tuple[str, ...]
    options: CorpusOptions

    @property
    def of_lines(self) -> bool:
        """Whether gensim's LineSentence gives the same tokens as the counts."""
        given = self.options
        plain = given.tokeniser == "whitespace" and given.input_format == "text"
        unchanged = given.strip == "none" and case_of(given.tokeniser, given.case) == "keep"
        return plain and unchanged and not any(map(is_compressed, self.names))

    @property
    def note(self) -> str:
        """A sentence for the user on what a sentence is."""
        if self.of_lines:
            return f"sentences are lines (gensim's LineSentence), cut at {LONGEST:,} tokens"
        return f"sentences are the documents of the counts, cut at {LONGEST:,} tokens"


@contextlib.contextmanager
def open_sentences(text: Text, context: Context) -> Iterator[Sentences]:
    """Yield the sentences of a text. Raises MissingInputError, InputError, FormatError."""
    if text.of_lines:
        try:
            yield _Lines(text.names, text.options.normalise)
        except UnicodeDecodeError as error:
            where, found = " ".join(text.names), f"byte 0x{error.object[error.start]:02x}"
            do = "count it with --tokeniser words, or convert it"
            raise InputError("gensim reads only UTF-8", where=where, found=found, do=do) from None
        return
    from wordgeom.corpus.encoding.encode import encode

    # Every token has a row; the peer selects words itself.
    options = replace(
        text.options, min_count=1, max_vocab=0, read_vocab=None, sample=0.0, oov="keep",
        stop_words=None, keep_words=None,
    )  # fmt: skip
    encoded = encode(list(text.names), options, context, gap=1, short=0)
    with contextlib.closing(encoded.stream):
        yield _Documents(encoded)


class _Lines:
    """gensim's LineSentence over several files, with tokens normalised as in the counts."""

    def __init__(self, names: tuple[str, ...], form: str) -> None:
        self._names = names
        self._normaliser = normaliser(form, lower=False)

    def __iter__(self) -> Iterator[list[str]]:
        from gensim.models.word2vec import LineSentence

        for name in self._names:
            for sentence in LineSentence(name, max_sentence_length=LONGEST):
                yield self._normalised(sentence)

    def _normalised(self, sentence: list[str]) -> list[str]:
        if self._normaliser is None or all(map(str.isascii, sentence)):
            return sentence
        return self._normaliser.text(" ".join(sentence)).split()


class _Documents:
    """The documents of an encoded corpus, in which every token has a row."""

    def __init__(self, encoded: EncodedCorpus) -> None:
        self._stream, self._words = encoded.stream, encoded.vocabulary.words

    def __iter__(self) -> Iterator[list[str]]:
        sentence: list[str] = []
        for ids, ends in self._runs():
            sentence += [self._words[k] for k in ids]
            while len(sentence) >= LONGEST:
                yield sentence[:LONGEST]
                sentence = sentence[LONGEST:]
            if ends and sentence:
                yield sentence
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
        yield [], True
