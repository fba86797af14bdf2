"""A scikit-learn transformer from texts to vectors.

make_pipeline(wg.TextVectorizer("vectors.bin"), LogisticRegression())
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from wordgeom.api.counts import MatrixHandle, PathLike, count_documents
from wordgeom.api.messages import declare, public, reworded
from wordgeom.api.text_lists import check_no_names, lent_as_file
from wordgeom.api.training import train
from wordgeom.api.vectors import Model, corpus_of, open_source_of
from wordgeom.core.errors import OptionError
from wordgeom.core.options import check_known, specs
from wordgeom.core.types import Float32
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records.formats import resolve
from wordgeom.formats.vector_files import read_open_vectors
from wordgeom.linalg.device import open_context
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import UseOptions
from wordgeom.subwords.open_vocabulary import OpenVocabulary, subword_note
from wordgeom.texts.corpus_record import (
    SPLITTING,
    CorpusRecord,
    corpus_record,
    reading_options,
    splitting_notes,
)
from wordgeom.texts.embedding import (
    Embedding,
    Texts,
    check_words_known,
    check_words_memory,
    few_known_note,
    fit,
)
from wordgeom.texts.options import EmbedOptions
from wordgeom.texts.output import Output
from wordgeom.texts.words import OpenWords, Words, usable_words

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

declare([field.name for field, _ in specs(EmbedOptions)], [EmbedOptions])


class TextVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn texts into the weighted means of their words' vectors, as `wordgeom embed` does.

    vectors: a file, a Model or gensim's KeyedVectors; None to train `lsa` of `dim` dimensions on
    the texts that are fitted.
    counts: the counts behind the vectors, for word frequencies and how text is split into words;
    None for those of a Model, or to look for `cooc` or `dtm` beside a vectors file.
    text_options: options that split text, such as {"tokeniser": "whitespace"}; None as recorded.
    weights, sif_a, remove_components, all_but_the_top, unit_words, l2, empty: as for `embed`.
    threads, memory: as for every command.

    `fit` learns the weights of tf-idf, those of SIF where no counts are found, and the components,
    which `transform` removes from other texts. Attributes: `notes_`, remarks of `fit`.
    """

    def __init__(
        self,
        vectors: PathLike | Model | KeyedVectors | None = None,
        *,
        weights: str = "sif",
        sif_a: float = 1e-3,
        remove_components: int | None = None,
        all_but_the_top: int | None = None,
        unit_words: bool = False,
        l2: bool = False,
        empty: str = "zero",
        dim: int = 100,
        counts: PathLike | MatrixHandle | None = None,
        text_options: Mapping[str, Any] | None = None,
        threads: int = 0,
        memory: float = 0.0,
    ) -> None:
        self.vectors, self.weights, self.sif_a = vectors, weights, sif_a
        self.remove_components, self.all_but_the_top = remove_components, all_but_the_top
        self.unit_words, self.l2, self.empty, self.dim = unit_words, l2, empty, dim
        self.counts, self.text_options = counts, text_options
        self.threads, self.memory = threads, memory

    @public
    def fit(self, X: Iterable[str], y: Any = None) -> TextVectorizer:
        """Learn weights and components from texts; y is ignored. Raises WordgeomError."""
        check_no_names(X)
        with lent_as_file(X) as file, self._context() as context:
            self._fit(file, context).encoded.stream.close()
        return self

    @public
    def transform(self, X: Iterable[str]) -> Float32:
        """Return the vectors of texts (n × K) float32. Raises WordgeomError, NotFittedError."""
        check_is_fitted(self)
        with lent_as_file(X) as file, self._context() as context:
            texts, words = self._texts(file, self.words_, context)
            return _vectors(self.embedding_.including(words.words), texts)

    @public
    def fit_transform(self, X: Iterable[str], y: Any = None) -> Float32:
        """Fit, and return the vectors of the same texts (n × K) float32."""
        check_no_names(X)
        with lent_as_file(X) as file, self._context() as context:
            texts = self._fit(file, context)
            return _vectors(self.embedding_, texts)

    def _fit(self, file: str, context: Context) -> Texts:
        options = EmbedOptions.take(self.get_params(deep=False))
        given = self._text_options()
        known, record = self._source(file, given)
        check_words_memory(known, options, context)
        reading = {**given, "bad_bytes": "replace"}  # of a lone surrogate
        self.reading_: CorpusOptions = reading_options(record, reading, [file])
        usable = usable_words(known, self.reading_.normalise, options)
        texts, words = self._texts(file, usable, context)
        made, fitted = self._fitted(words.words, texts, record, options)
        added = subword_note(words.words.words[len(usable.words.words) :])
        resolved = resolve([file], self.reading_)
        notes = list(splitting_notes(record, resolved, given, self._name()))
        self.notes_ = reworded([*notes, *added, *fitted, *few_known_note(texts.encoded)])
        self.embedding_: Embedding = made
        self.words_: OpenWords = words
        self._n_features_out = self.embedding_.dimension
        return texts

    def _fitted(
        self, words: Words, texts: Texts, record: CorpusRecord, options: EmbedOptions
    ) -> tuple[Embedding, list[str]]:
        """Return the embedding of texts, and notes. Raises InputError for texts without words."""
        try:
            check_words_known(texts.encoded, self._name(), "the texts")
            return fit(words, texts, record, options)
        except BaseException:
            texts.encoded.stream.close()
            raise

    def _name(self) -> str:
        """Return what messages call the vectors."""
        if self.vectors is None:
            return "these texts"
        return str(self.vectors) if isinstance(self.vectors, (str, os.PathLike)) else "vectors"

    def _text_options(self) -> dict[str, Any]:
        given = {} if self.text_options is None else self.text_options
        if not isinstance(given, Mapping):
            do = 'such as {"tokeniser": "whitespace"}'
            found = type(given).__name__
            raise OptionError("text_options must be a dictionary", found=found, do=do)
        check_known(given, SPLITTING, "text_options")
        return dict(given)

    def _source(self, file: str, given: Mapping[str, Any]) -> tuple[OpenVocabulary, CorpusRecord]:
        """Return the vectors of words, and what is recorded of the text behind them."""
        if self.vectors is None:
            return self._trained(file, given)
        source = open_source_of(self.vectors)
        path = None if isinstance(source, OpenVocabulary) else Path(source)
        known = source if isinstance(source, OpenVocabulary) else read_open_vectors(Path(source))
        if self.counts is not None:
            return known, corpus_of(self.counts)
        if isinstance(self.vectors, Model):
            return known, self.vectors.corpus
        return known, corpus_record(path, None)

    def _trained(self, file: str, given: Mapping[str, Any]) -> tuple[OpenVocabulary, CorpusRecord]:
        """Return vectors trained on the texts themselves."""
        use: dict[str, Any] = {"threads": self.threads, "memory": self.memory}
        with count_documents(file, min_count=1, bad_bytes="replace", **given, **use) as counts:
            most = min(len(counts.documents()), len(counts.words))
            model: Model = train(counts, "lsa", dim=min(self.dim, most), **use)
            record = corpus_record(None, counts.path)
            return OpenVocabulary(model.read), replace(record, where="the texts themselves")

    def _texts(self, file: str, words: OpenWords, context: Context) -> tuple[Texts, OpenWords]:
        """Return the texts, and the words with those of the texts that n-grams give a vector."""
        names = [file]
        encoded, every = words.encode(names, resolve(names, self.reading_), context)
        return Texts(encoded, context), every

    def _context(self) -> contextlib.AbstractContextManager[Context]:
        return open_context(UseOptions.asked({"threads": self.threads, "memory": self.memory}))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string, tags.input_tags.two_d_array = True, False
        return tags

    def _more_tags(self) -> dict[str, Any]:  # of scikit-learn before 1.6
        return {"X_types": ["string"]}


def _vectors(embedding: Embedding, texts: Texts) -> Float32:
    with contextlib.closing(texts.encoded.stream):
        blocks = list(Output(embedding, texts).blocks())
    return np.concatenate([np.zeros((0, embedding.dimension), np.float32), *blocks])
