"""Latent semantic indexing with gensim: truncated SVD of a tf-idf term–document matrix.

A document is a sentence of sentences.py. A word's vector is its row of U (Deerwester et al. 1990),
which gensim calls the projection. A word of every document has tf-idf 0 and a zero vector.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural
from wordgeom.peers import PeerOptions, Sentences, Trained
from wordgeom.vectors.keyed import Vectors

if TYPE_CHECKING:
    from gensim.corpora import Dictionary
    from gensim.models import TfidfModel


def passes(options: PeerOptions) -> int:
    """Return the passes over the text: one for the vocabulary, one for the decomposition."""
    return 2


def train(sentences: Sentences, options: PeerOptions) -> Trained:
    """Return the words' rows of U; tokens: number in the documents.

    Raises InputError for a single document, for documents without words, or if all words are in
    every document.
    """
    import gensim
    from gensim.models import LsiModel, TfidfModel
    from threadpoolctl import threadpool_limits

    dictionary = _dictionary(sentences)
    documents = _Weighted(sentences, dictionary, TfidfModel(dictionary=dictionary))
    with threadpool_limits(limits=options.threads):
        model = LsiModel(
            documents, num_topics=options.dim, id2word=dictionary, random_seed=options.seed
        )
    matrix = np.ascontiguousarray(model.projection.u, np.float32)
    words = [str(dictionary[row]) for row in range(len(dictionary))]
    note = (
        f"gensim {gensim.__version__} LsiModel, tf-idf, {dictionary.num_docs:,} documents, "
        f"{dictionary.num_pos:,} tokens"
    )
    notes = (note, *_fewer(matrix.shape[1], options.dim))
    return Trained(Vectors(words, matrix), dictionary.num_pos, notes)


class _Weighted:
    """The documents as tf-idf weighted bags of words, computed on each iteration."""

    def __init__(self, sentences: Sentences, dictionary: Dictionary, model: TfidfModel) -> None:
        self._sentences, self._dictionary, self._model = sentences, dictionary, model

    def __iter__(self) -> Iterator[list[tuple[int, float]]]:
        for sentence in self._sentences:
            yield self._model[self._dictionary.doc2bow(sentence)]


def _dictionary(sentences: Sentences) -> Dictionary:
    """Return the words of the documents; raises InputError as `train`."""
    from gensim.corpora import Dictionary

    dictionary = Dictionary(sentences, prune_at=None)
    if dictionary.num_docs < 2:
        do = "omit lsi, or use a text of several lines"
        what = "lsi needs more than one document (documents are cut at 10,000 tokens)"
        raise InputError(what, found=dictionary.num_docs, do=do)
    if not len(dictionary):
        raise InputError("the text contains no word of the counts", do="check --corpus")
    if all(n == dictionary.num_docs for n in dictionary.dfs.values()):
        raise InputError(
            "every word is in every document, so all tf-idf weights are 0", do="omit lsi"
        )
    return dictionary


def _fewer(columns: int, dim: int) -> tuple[str, ...]:
    if columns == dim:
        return ()
    return (f"{plural(columns, 'column')} instead of --dim {dim}: the rank of the documents",)
