"""fastText's skip-gram with character n-grams, as gensim trains it (Bojanowski et al. 2017).

A word's vector is the mean of its own and those of its n-grams, which share 2,000,000 buckets as in
the program fastText. They take 4 × 2,000,000 × dim bytes, even for a small text.
"""

from __future__ import annotations

from wordgeom.peers import PeerOptions, Sentences, Trained, word2vec

_BUCKETS = 2_000_000
passes = word2vec.passes


def train(sentences: Sentences, options: PeerOptions) -> Trained:
    """Return the vectors of gensim's FastText; raises InputError as `word2vec.trained`."""
    from gensim.models import FastText

    return word2vec.trained(FastText, sentences, options, sg=1, min_n=3, max_n=6, bucket=_BUCKETS)
