"""Trained vectors in Python.

model = wg.train(counts, "gbu", dim=100)
model.most_similar("king")
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.api.counts import MatrixHandle, PathLike, file_path, matrix_path
from wordgeom.api.messages import public, reworded
from wordgeom.core.errors import OptionError
from wordgeom.core.types import Float32
from wordgeom.formats.output_checks import check_overwrite
from wordgeom.formats.shared_ngrams import check_no_model, check_other_readers
from wordgeom.formats.vector_files import read_open_vectors
from wordgeom.methods.contract import Status
from wordgeom.subwords.model import SubwordModel
from wordgeom.subwords.open_vocabulary import OpenVocabulary
from wordgeom.subwords.stored import find_model, has_model, model_writer
from wordgeom.texts.corpus_record import CorpusRecord, corpus_record
from wordgeom.vectors import run_card
from wordgeom.vectors.keyed import Vectors, from_keyed_vectors, to_keyed_vectors, writable_words
from wordgeom.vectors.nearest import row_of, similar

if TYPE_CHECKING:
    from gensim.models import KeyedVectors
    from pandas import DataFrame


class Model:
    """Trained vectors: words, vectors (V × K) float32, notes, statistics and status.

    status: "converged", or why not (methods.contract.Status); corpus: what is recorded of the text
    behind the vectors, for TextVectorizer. With subwords, a word without a vector has that of its
    n-grams.
    """

    def __init__(
        self,
        vectors: Vectors,
        notes: Sequence[str],
        statistics: dict[str, Any],
        documents: Float32 | None = None,
        status: str = Status.CONVERGED.value,
        corpus: CorpusRecord | None = None,
        subwords: SubwordModel | None = None,
    ) -> None:
        self._vectors, self._documents = vectors, documents
        self._open = OpenVocabulary(vectors, subwords)
        self.corpus = corpus or CorpusRecord()
        self.notes = list(notes)
        self.statistics, self.status = statistics, status

    def __repr__(self) -> str:
        words, dimension = self.vectors.shape
        status = "" if self.status == Status.CONVERGED.value else f", {self.status}"
        return f"<{type(self).__name__} of {words:,} × {dimension:,}{status}>"

    def __len__(self) -> int:
        return len(self.words)

    def __contains__(self, word: object) -> bool:
        return isinstance(word, str) and self._vectors.row(word) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.words)

    @public
    def __getitem__(self, word: str) -> Float32:
        """Return the vector (K) of a word. Raises InputError for an unknown one."""
        known = self._open.of_query(_words([word]))[0]
        return np.asarray(known.matrix[row_of(known, word)])

    @public
    def most_similar(
        self, positive: str | Sequence[str], negative: str | Sequence[str] = (), topn: int = 10
    ) -> list[tuple[str, float]]:
        """Return the words nearest to a word, or to a sum of words less others, with cosines.

        Raises InputError for an unknown word, OptionError.
        """
        if topn < 1:
            raise OptionError("topn must be at least 1", found=topn)
        known = self._open.of_query([*_words(positive), *_words(negative)])[0]
        return similar(known, positive, negative, topn)

    @property
    def read(self) -> Vectors:
        """Words and vectors together."""
        return self._vectors

    @property
    def words(self) -> list[str]:
        """The V words."""
        return self._vectors.words

    @property
    def vectors(self) -> Float32:
        """(V × K) float32."""
        return self._vectors.matrix

    @property
    def documents(self) -> Float32 | None:
        """Document vectors (n × K) float32, a row for each counted document.

        None where the method makes none, and where the output was up to date without them.
        """
        return self._documents

    def to_frame(self) -> DataFrame:
        """Return the vectors as a DataFrame of pandas: a row per word."""
        return self._vectors.to_frame()

    def keyed_vectors(self) -> KeyedVectors:
        """Return the vectors as gensim's KeyedVectors."""
        return to_keyed_vectors(self._vectors)

    @public
    def save(self, path: PathLike, *, space: str | None = None, force: bool = False) -> None:
        """Write a word2vec file, .bin, .txt or .vec, and the subword model beside it.

        force: replace a file, with its n-grams. Raises OutputExistsError without it, OptionError
        where this or another file would be read with n-grams that are not its own.
        """
        target = file_path(path)
        made = Vectors(writable_words(target, self.words, space=space), self.vectors)
        check_overwrite(target, force)
        model = self._open.model
        held = find_model(target, made) if has_model(target, made) else None
        if model is not None and held is not None and held.digest == model.digest:
            model = None  # that of another format of these vectors, with its run card
        elif model is not None:
            check_other_readers(target)
        elif held is None:
            check_no_model(target, force=force)
        with model_writer(target, model, made, {}) as ready:
            run_card.write(target, made, None, ready=ready)

    @property
    def subwords(self) -> SubwordModel | None:
        """The vectors of n-grams, None where the words have none."""
        return self._open.model


def _words(given: str | Sequence[str]) -> Sequence[str]:
    return [given] if isinstance(given, str) else [word for word in given if isinstance(word, str)]


def source_of(vectors: PathLike | Model | KeyedVectors) -> PathLike | Vectors:
    """Return the name of a file unchanged, vectors in memory as Vectors."""
    if isinstance(vectors, (str, os.PathLike)):
        return vectors
    if isinstance(vectors, Model):
        return vectors.read
    if hasattr(vectors, "index_to_key"):  # gensim need not be imported for this
        return from_keyed_vectors(vectors)
    what = "vectors must be a file name, a Model or gensim's KeyedVectors"
    raise OptionError(what, found=type(vectors).__name__)


def ngrams_of(vectors: PathLike | Model | KeyedVectors) -> SubwordModel | None:
    """Return the n-grams of a model, None for gensim's vectors, and for files, which are read."""
    return vectors.subwords if isinstance(vectors, Model) else None


def open_source_of(vectors: PathLike | Model | KeyedVectors) -> PathLike | OpenVocabulary:
    """Return the name of a file unchanged, vectors in memory with the n-grams of a model."""
    source = source_of(vectors)
    if not isinstance(source, Vectors):
        return source
    return OpenVocabulary(source, ngrams_of(vectors))


def read_back(
    path: Path, documents: Float32 | None = None, corpus: CorpusRecord | None = None
) -> Model:
    """Return vectors with their n-grams, and what their run card records."""
    from wordgeom.vectors.run_card import read_card

    card = read_card(path) or {}
    notes, statistics = reworded(card.get("notes", [])), card.get("statistics", {})
    status = card.get("status", Status.CONVERGED.value)
    read = read_open_vectors(path)
    return Model(read.vectors, notes, statistics, documents, status, corpus, read.model)


def corpus_of(counts: PathLike | MatrixHandle) -> CorpusRecord:
    """Return what is recorded of the text that was counted. Raises WordgeomError."""
    record = corpus_record(None, matrix_path(counts))
    return replace(record, where=repr(counts)) if isinstance(counts, MatrixHandle) else record
