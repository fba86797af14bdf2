"""A scikit-learn transformer from texts to vectors.

make_pipeline(wg.TextVectorizer("vectors.bin"), LogisticRegression())
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from wordgeom.api.counts import MatrixHandle, PathLike, count_documents, matrix_path
from wordgeom.api.messages import declare, public, reworded
from wordgeom.api.vectors import Model, _source, train
from wordgeom.core.errors import InputError
from wordgeom.core.options import check_known, specs
from wordgeom.core.types import Float32
from wordgeom.corpus.encoding.encode import encode_texts
from wordgeom.corpus.options import CorpusOptions
from wordgeom.corpus.records.formats import resolve
from wordgeom.formats.vector_files import read_any_vectors
from wordgeom.linalg.device import open_context
from wordgeom.runtime.context import Context
from wordgeom.runtime.run_options import UseOptions
from wordgeom.texts.corpus_record import (
    SPLITTING,
    CorpusRecord,
    corpus_record,
    reading_options,
)
from wordgeom.texts.embedding import (
    Embedding,
    Texts,
    Words,
    check_words_memory,
    fit,
    usable_words,
)
from wordgeom.texts.options import EmbedOptions
from wordgeom.texts.output import Output
from wordgeom.vectors.keyed import Vectors

if TYPE_CHECKING:
    from gensim.models import KeyedVectors

declare([field.name for field, _ in specs(EmbedOptions)], [EmbedOptions])


class TextVectorizer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn texts into the weighted means of their words' vectors, as `wordgeom embed` does.

    vectors: a file, a Model or gensim's KeyedVectors; None to train `lsa` of `dim` dimensions on
    the texts that are fitted.
    counts: the counts behind the vectors, for word frequencies and how text is split into words;
    None to look for `cooc` or `dtm` beside a vectors file.
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
        with self._lines(X) as file, self._context() as context:
            self._fit(file, context).encoded.stream.close()
        return self

    @public
    def transform(self, X: Iterable[str]) -> Float32:
        """Return the vectors of texts (n × K) float32. Raises WordgeomError, NotFittedError."""
        check_is_fitted(self)
        with self._lines(X) as file, self._context() as context:
            return _vectors(self.embedding_, self._texts(file, self.embedding_.words, context))

    @public
    def fit_transform(self, X: Iterable[str], y: Any = None) -> Float32:
        """Fit, and return the vectors of the same texts (n × K) float32."""
        with self._lines(X) as file, self._context() as context:
            texts = self._fit(file, context)
            return _vectors(self.embedding_, texts)

    def _fit(self, file: str, context: Context) -> Texts:
        options = EmbedOptions.take(self.get_params(deep=False))
        given = dict(self.text_options or {})
        check_known(given, SPLITTING, "text_options")
        vectors, record = self._source(file, given)
        check_words_memory(vectors, options, context)
        reading = {**given, "bad_bytes": "replace"}  # of a lone surrogate
        self.reading_: CorpusOptions = reading_options(record, reading, [file])
        words = usable_words(vectors, self.reading_.normalise, options)
        texts = self._texts(file, words, context)
        made, notes = fit(words, texts, record, options)
        self.notes_ = reworded(notes)
        self.embedding_: Embedding = made
        self._n_features_out = self.embedding_.dimension
        return texts

    def _source(self, file: str, given: Mapping[str, Any]) -> tuple[Vectors, CorpusRecord]:
        """Return the vectors of words, and what is recorded of the text behind them."""
        if self.vectors is None:
            return self._trained(file, given)
        source = _source(self.vectors)
        counts = None if self.counts is None else matrix_path(self.counts)
        if isinstance(source, Vectors):
            return source, corpus_record(None, counts)
        return read_any_vectors(Path(source)), corpus_record(Path(source), counts)

    def _trained(self, file: str, given: Mapping[str, Any]) -> tuple[Vectors, CorpusRecord]:
        """Return vectors trained on the texts themselves."""
        use: dict[str, Any] = {"threads": self.threads, "memory": self.memory}
        with count_documents(file, min_count=1, bad_bytes="replace", **given, **use) as counts:
            most = min(len(counts.documents()), len(counts.words))
            model: Model = train(counts, "lsa", dim=min(self.dim, most), **use)
            record = corpus_record(None, counts.path)
            return model.read, replace(record, where="the texts themselves")

    def _texts(self, file: str, words: Words, context: Context) -> Texts:
        names = [file]
        reading = resolve(names, self.reading_)
        return Texts(encode_texts(names, reading, words.words, context), context)

    def _context(self) -> contextlib.AbstractContextManager[Context]:
        return open_context(UseOptions(threads=self.threads, memory=self.memory))

    @contextlib.contextmanager
    def _lines(self, X: Iterable[str]) -> Iterator[str]:
        """Yield the name of a file with the texts, which are read as those of `embed` are."""
        if isinstance(X, (str, bytes)):
            raise InputError("expected several texts", found="one", do="pass a list of texts")
        folder = tempfile.mkdtemp(prefix="wordgeom-")
        path = os.path.join(folder, "texts.jsonl")
        try:
            with open(path, "w", encoding="ascii") as out:
                number = -1
                for number, text in enumerate(X):
                    if not isinstance(text, str):
                        found = type(text).__name__
                        raise InputError(f"text {number} must be a string", found=found)
                    out.write(f'{{"text": {json.dumps(text)}}}\n')
            if number < 0:
                raise InputError("no texts", found="0 samples", do="pass a list of texts")
            yield path
        except InputError as error:
            if error.where != path:
                raise
            raise InputError(error.what, where="texts", found=error.found, do=error.do) from None
        finally:
            with contextlib.suppress(OSError):
                os.unlink(path)
                os.rmdir(folder)

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
