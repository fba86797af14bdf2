"""Continuous bag of words with negative sampling with gensim (Mikolov et al. 2013a)."""

from __future__ import annotations

from wordgeom.peers import PeerOptions, Sentences, Trained, word2vec

passes = word2vec.passes


def train(sentences: Sentences, options: PeerOptions) -> Trained:
    """Return the vectors of gensim's Word2Vec; raises InputError as `word2vec.trained`."""
    from gensim.models import Word2Vec

    return word2vec.trained(Word2Vec, sentences, options, sg=0)
