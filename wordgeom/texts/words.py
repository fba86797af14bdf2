"""The words of texts that have a vector: words of the vectors, and others through their n-grams."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural, several
from wordgeom.core.types import Array, Float32, Int64
from wordgeom.corpus.encoding.encode import EncodedCorpus, encode_texts
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.tokens.normal_forms import normaliser
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.texts.options import EmbedOptions
from wordgeom.vectors.postprocess import Components, principal_components, without_components

_NGRAMS = 600  # bytes of the n-grams of a word


@dataclass(frozen=True, eq=False)
class Words:
    """The words with a usable vector; rows (V): of each in `matrix` (· × K) float32."""

    words: list[str]
    rows: Int64
    matrix: Float32

    def followed_by(self, words: Sequence[str], vectors: Float32) -> Words:
        """Return these words and further ones with their vectors (n × K)."""
        rows = len(self.matrix) + np.arange(len(words))
        matrix = np.concatenate((self.matrix, vectors))
        return Words([*self.words, *words], np.concatenate((self.rows, rows)), matrix)


@dataclass(frozen=True, eq=False)
class OpenWords:
    """Words, and the n-grams that give other words a vector; top: what all vectors lost."""

    words: Words
    known: OpenVocabulary
    top: Components | None = None

    def encode(
        self, names: list[str], options: CorpusOptions, context: Context
    ) -> tuple[EncodedCorpus, OpenWords]:
        """Encode texts, and return them with these words and those that n-grams give a vector.

        The words of the texts have the ids of the words that are returned. Raises what
        `encode_texts` raises; InputError where the vectors of all words exceed memory.
        """
        if self.known.model is None:
            return encode_texts(names, options, self.words.words, context), self
        made = [self]

        def more(others: list[str]) -> list[str]:
            made.append(self._including(others, context))
            return made[-1].words.words[len(self.words.words) :]

        encoded = encode_texts(names, options, self.words.words, context, more)
        return encoded, made[-1]

    def _including(self, others: list[str], context: Context) -> OpenWords:
        rows, columns = self.words.matrix.shape
        needed = 4 * columns * (2 * rows + 3 * len(others)) + _NGRAMS * len(others)
        what = f"the n-grams of {plural(len(others), 'word')} and vectors of {columns:,}"
        check_memory(what, needed, context.memory, "raise --memory")
        added, vectors = self.known.inferred(others)
        if self.top is not None:
            vectors = without_components(vectors, self.top)
        return replace(self, words=self.words.followed_by(added, vectors))


def usable_words(known: OpenVocabulary, form: str, options: EmbedOptions) -> OpenWords:
    """Return the words with a finite vector that is not zero, normalised to a Unicode form.

    Of words that are equal then, the first counts. Raises InputError where there is none,
    OptionError for more components than dimensions.
    """
    vectors, top = known.vectors, None
    matrix = vectors.matrix
    options.components(matrix.shape[1])
    finite: Array = np.asarray(np.isfinite(matrix).all(axis=1) & matrix.any(axis=1))
    normal = normaliser(form, lower=False)
    rows: dict[str, int] = {}
    for row in np.flatnonzero(finite).tolist():
        word = vectors.words[row]
        rows.setdefault(word if normal is None or word.isascii() else normal.word(word), row)
    rows.pop("", None)
    if not rows:
        have = several(len(finite), "vector is", "vectors are")
        raise InputError(f"all {have} zero, or contain NaN or infinity", do="train again")
    used = np.array(list(rows.values()), np.int64)
    if options.all_but_the_top is not None:
        with one_thread():
            matrix = matrix[used]
            top = principal_components(matrix, options.all_but_the_top)
            matrix = without_components(matrix, top)
        used = np.arange(len(used))
    return OpenWords(Words(list(rows), used, matrix), known, top)
