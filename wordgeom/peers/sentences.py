"""The counted text as lists of tokens, for peers: the same tokens that the counts are of.

Text counted by white space goes through gensim's own LineSentence: the peer as its users run it.
Text counted as `words` is read by our reader and tokeniser, whose documents are then the
sentences. Both cut at 10,000 tokens, since gensim leaves out without a word what is longer.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.corpus.inputs.readers import is_compressed
from wordgeom.corpus.options import CorpusOptions
from wordgeom.peers import Sentences
from wordgeom.runtime.context import Context

if TYPE_CHECKING:
    from wordgeom.corpus.encoding.encode import EncodedCorpus

LONGEST = 10_000  # tokens of a sentence, gensim's MAX_WORDS_IN_BATCH
_IDS = 1 << 16  # read at once


@dataclass(frozen=True)
class Text:
    """Files, and how the counts made tokens and documents of them."""

    names: tuple[str, ...]
    options: CorpusOptions

    @property
    def of_lines(self) -> bool:
        """Whether gensim reads the files as they were counted."""
        packed = any(map(is_compressed, self.names))
        at = self.options
        return (at.tokeniser, at.input_format, packed) == ("whitespace", "text", False)

    @property
    def note(self) -> str:
        """What a sentence is, in words."""
        if self.of_lines:
            return f"sentences are lines (gensim's LineSentence), cut at {LONGEST:,} tokens"
        return f"sentences are the documents that were counted, cut at {LONGEST:,} tokens"


@contextlib.contextmanager
def opened(text: Text, context: Context) -> Iterator[Sentences]:
    """Open a text as sentences. Raises MissingInputError, InputError, FormatError."""
    if text.of_lines:
        try:
            yield _Lines(text.names)
        except UnicodeDecodeError as error:
            where, found = " ".join(text.names), f"byte 0x{error.object[error.start]:02x}"
            do = "count it with --tokeniser words, or convert it"
            raise InputError("gensim reads UTF-8 alone", where=where, found=found, do=do) from None
        return
    from wordgeom.corpus.encoding.encode import encode

    # Every token has a row, and words are chosen by the peer.
    options = replace(
        text.options, min_count=1, max_vocab=0, read_vocab=None, sample=0.0, oov="keep",
        stop_words=None, keep_words=None,
    )  # fmt: skip
    encoded = encode(list(text.names), options, context, gap=1, short=0)
    with contextlib.closing(encoded.stream):
        yield _Documents(encoded)


class _Lines:
    """LineSentence over several files."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names = names

    def __iter__(self) -> Iterator[list[str]]:
        from gensim.models.word2vec import LineSentence

        for name in self._names:
            yield from LineSentence(name, max_sentence_length=LONGEST)


class _Documents:
    """The documents of an encoded corpus, in which every token has a row."""

    def __init__(self, encoded: EncodedCorpus) -> None:
        self._stream, self._words = encoded.stream, encoded.vocabulary.words

    def __iter__(self) -> Iterator[list[str]]:
        held: list[str] = []
        for ids, ends in self._runs():
            held += [self._words[k] for k in ids]
            while len(held) >= LONGEST:
                yield held[:LONGEST]
                held = held[LONGEST:]
            if ends and held:
                yield held
                held = []

    def _runs(self) -> Iterator[tuple[list[int], bool]]:
        """Yield ids without a gap between them, and whether a document ends after them."""
        gap = len(self._words)
        for start in range(0, self._stream.length, _IDS):
            ids = self._stream.read(start, start + _IDS)
            begin = 0
            for end in np.flatnonzero(ids == gap).tolist():
                yield ids[begin:end].tolist(), True
                begin = end + 1
            yield ids[begin:].tolist(), False
        yield [], True
