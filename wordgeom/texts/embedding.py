"""Text vectors: weighted means of the vectors of a text's words, without common components.

The mean of a text of n words with vectors, in which a word w occurs x times:

* mean: Σ x v / n
* tf-idf: Σ x i v / Σ x i, with the inverse document frequency i = ln((1 + N) / (1 + N_w)) + 1 of
  a word in N_w of N texts, as scikit-learn's TfidfTransformer has it (with norm="l1")
* sif: Σ x a / (a + p) v / n, with the probability p of the word (Arora, Liang and Ma 2017)

Sums are made in float64, in the order of the words' ids, and the results are float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural, several
from wordgeom.core.types import Csr, Float64, Int64, offsets
from wordgeom.corpus.encoding.encode import EncodedCorpus
from wordgeom.counts.documents import DocumentCounts
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import PROGRAM, check_memory
from wordgeom.runtime.run_options import FLOOR
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.texts import kernels
from wordgeom.texts.corpus_record import CorpusRecord
from wordgeom.texts.options import MEAN, NAN, TFIDF, EmbedOptions
from wordgeom.texts.words import Words
from wordgeom.vectors.keyed import Vectors
from wordgeom.vectors.postprocess import Components, Moments

_Value = TypeVar("_Value")
_ROWS = 2048  # texts of a block
_WORD = 200  # bytes of a word in the lexicon and in the tables here
_FEW = 0.5  # share of tokens with a vector, below which there is a note
_TEXT = 80  # bytes of a text's counts, offsets and number of its line


@dataclass(frozen=True, eq=False)
class Embedded:
    """Vectors of texts (n × K) float64; known, tokens (n): tokens with a vector, and all."""

    vectors: Float64
    known: Int64
    tokens: Int64


@dataclass(frozen=True, eq=False)
class Embedding:
    """Words with their weights and shares (V), as `weighted_means` takes them, and components.

    absent: the weight of a word that the texts do not contain.
    """

    words: Words
    weights: Float64
    shares: Float64
    components: Components | None
    options: EmbedOptions
    absent: float

    @property
    def dimension(self) -> int:
        """The number of columns."""
        return int(self.words.matrix.shape[1])

    def including(self, words: Words) -> Embedding:
        """Return the embedding with further words behind its own, absent when it was fitted."""
        own = len(self.weights)
        new = np.full(len(words.words) - own, self.absent)
        shares = new if self.options.weights == TFIDF else np.ones(len(new))
        weights = _of_unit_words(new, words.rows[own:], words, self.options)
        return replace(
            self, words=words, weights=np.append(self.weights, weights),
            shares=np.append(self.shares, shares),
        )  # fmt: skip

    def means(self, counts: Csr) -> Embedded:
        """Return the weighted means of texts; in `counts`, V stands for all other words."""
        sums, known = np.zeros((counts.rows, self.dimension)), np.zeros(counts.rows, np.int64)
        tokens = np.zeros(counts.rows, np.int64)
        kernels.weighted_means(
            counts.indptr, counts.indices, counts.data, self.words.rows, self.words.matrix,
            self.weights, self.shares, sums, known, tokens,
        )  # fmt: skip
        return Embedded(sums, known, tokens)

    def finished(self, counts: Csr) -> Embedded:
        """Return the vectors of texts as they are written."""
        made = self.means(counts)
        vectors, there = made.vectors, made.known > 0
        if self.components is not None:
            vectors = np.where(there[:, None], self.components.remove(vectors), 0.0)
        if self.options.l2:
            norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
            vectors = vectors / np.where(norms > 0, norms, 1.0)[:, None]
        if self.options.empty == NAN:
            vectors[~there] = np.nan
        return Embedded(vectors, made.known, made.tokens)


class Texts:
    """Encoded texts as blocks of counts, in which V stands for all words without a vector."""

    def __init__(self, encoded: EncodedCorpus, context: Context) -> None:
        self.encoded, self._context = encoded, context

    def blocks(self, counted: DocumentCounts | None = None) -> Iterator[Csr]:
        """Yield the counts of at most _ROWS texts at a time; counted: sums up what was yielded."""
        V = len(self.encoded.vocabulary)
        counted = counted or DocumentCounts(self.encoded.stream, V, self._context.pool)
        for lengths, indices, values in counted.rows():
            ends = offsets(lengths)
            for at in range(0, len(lengths), _ROWS):
                part = ends[at : at + _ROWS + 1]
                cut = slice(int(part[0]), int(part[-1]))
                yield Csr(part - part[0], indices[cut].copy(), values[cut].astype(np.int64), V)

    def document_frequencies(self) -> tuple[Int64, int]:
        """Return in how many texts each word (V) occurs, and the number of texts."""
        counted = DocumentCounts(
            self.encoded.stream, len(self.encoded.vocabulary), self._context.pool
        )
        number = sum(block.rows for block in self.blocks(counted))
        return counted.document_frequencies[:-1], number

    def map(self, function: Callable[[Csr], _Value], label: str) -> Iterator[_Value]:
        """Yield function(block) in order, computed on all threads."""
        done = self._context.pool.map(lambda block: (block.rows, function(block)), self.blocks())
        followed = self._context.progress.follow(done, label, None, "texts", lambda made: made[0])
        return (made for _, made in followed)


def fit(
    words: Words, texts: Texts, record: CorpusRecord, options: EmbedOptions
) -> tuple[Embedding, list[str]]:
    """Return the embedding of texts, and notes.

    Weights that the record of the vectors' corpus does not give, and components, come from the
    texts. Raises InputError where the components leave nothing of the texts.
    """
    weights, absent, notes = _weights(words, texts, record, options)
    shares = weights if options.weights == TFIDF else np.ones(len(weights))
    weights = _of_unit_words(weights, words.rows, words, options)
    embedding = Embedding(words, weights, shares, None, options, absent)
    if number := options.components(words.matrix.shape[1]):
        components, more = _components(embedding, texts, number)
        embedding = replace(embedding, components=components)
        notes += more
    return embedding, notes


def _of_unit_words(weights: Float64, rows: Int64, words: Words, options: EmbedOptions) -> Float64:
    """Return the weights (n) of words at `rows`, divided by their lengths for --unit-words."""
    if not options.unit_words:
        return weights
    lengths = np.linalg.norm(words.matrix[rows].astype(np.float64), axis=1)
    return np.asarray(np.divide(weights, lengths, out=np.zeros_like(weights), where=lengths > 0))


def _weights(
    words: Words, texts: Texts, record: CorpusRecord, options: EmbedOptions
) -> tuple[Float64, float, list[str]]:
    """Return the weights (V) of words, that of a word that does not occur, and notes."""
    if options.weights == MEAN:
        return np.ones(len(words.words)), 1.0, []
    if options.weights == TFIDF:
        held, number = texts.document_frequencies()
        return np.log((1 + number) / (1 + held)) + 1, float(np.log(1 + number)) + 1, []
    counts, tokens = texts.encoded.vocabulary.counts[:-1], texts.encoded.tokens
    source = "the texts themselves"
    if record.frequencies is not None:
        index = dict(zip(record.frequencies.words, record.frequencies.counts.tolist(), strict=True))
        counts = np.array([index.get(word, 0) for word in words.words], np.int64)
        tokens, source = record.tokens, record.where
    p = counts / max(1, tokens)
    return options.sif_a / (options.sif_a + p), 1.0, [f"word frequencies from {source}"]


def _components(
    embedding: Embedding, texts: Texts, number: int
) -> tuple[Components | None, list[str]]:
    K = embedding.dimension
    empty = Moments(0, np.zeros(K), np.zeros((K, K)))

    def measured(counts: Csr) -> Moments:
        made = embedding.means(counts)
        return Moments.of(made.vectors[made.known > 0])

    with one_thread():
        found = sum(texts.map(measured, "fitting components"), empty)
    rank = found.rank
    if rank > number:
        return found.components(number, centre=False), []
    have = several(found.number, "text has a known word", "texts have a known word")
    if rank < found.number:
        have += f", and their vectors span {several(rank, 'dimension', 'dimensions')}"
    if embedding.options.remove_components is not None:
        do = "lower --remove-components, or embed more texts together"
        raise InputError(f"--remove-components {number} leaves nothing: {have}", do=do)
    return None, [f"no component removed: {have}"]


def check_words_known(encoded: EncodedCorpus, vectors: str, where: str) -> None:
    """Raise InputError where no word of the texts has a vector; vectors, where: names."""
    if not encoded.tokens:
        raise InputError("contains no words", where=where, do="check the file")
    if encoded.tokens == encoded.vocabulary.counts[-1]:
        tokens = several(encoded.tokens, "token", "tokens")
        what = f"no word has a vector in {vectors} ({tokens} read)"
        raise InputError(what, where=where, do="check the language, --tokeniser and --vectors")


def few_known_note(encoded: EncodedCorpus) -> list[str]:
    """Return a note on texts that are probably of another language or split in another way."""
    known = 1 - int(encoded.vocabulary.counts[-1]) / encoded.tokens
    do = "check the language, the case of the words and --tokeniser"
    return [f"only {known:.1%} of the tokens have a vector; {do}"] if known < _FEW else []


def check_words_memory(known: OpenVocabulary, options: EmbedOptions, context: Context) -> None:
    """Raise InputError where the vectors, their words and their n-grams exceed --memory."""
    words, columns = known.vectors.matrix.shape
    copies = 1 + 2 * (options.all_but_the_top is not None) + 2 * options.unit_words
    needed = words * (_WORD + 4 * columns * copies)
    needed += 0 if known.model is None else known.model.vectors.nbytes
    check_memory(f"{words:,} vectors of {columns:,}", needed, context.memory, "raise --memory")


def check_texts_memory(vectors: Vectors, encoded: EncodedCorpus, context: Context) -> None:
    """Raise InputError where the table of the texts and the vectors of words exceed --memory."""
    texts = sum(len(source.documents) for source in encoded.sources)
    lines = sum(len(source.documents.content) for source in encoded.sources)
    do = "raise --memory, or embed parts of the text separately"
    needed = PROGRAM + vectors.matrix.nbytes + _TEXT * texts + 2 * lines
    check_memory(
        f"{plural(texts, 'text')} and the vectors of words", needed, max(context.memory, FLOOR), do
    )
