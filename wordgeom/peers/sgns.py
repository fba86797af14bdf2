"""Skip-gram with negative sampling with gensim (Mikolov et al. 2013b).

The settings are word2vec's usual ones: sample 1e-3, 5 negatives. With more than one thread,
gensim's vectors differ between runs.
"""

from __future__ import annotations

from wordgeom.core.errors import InputError
from wordgeom.peers import PeerOptions, Sentences, Trained
from wordgeom.vectors.keyed import from_keyed_vectors

_SAMPLE, _NEGATIVE = 1e-3, 5


def train(sentences: Sentences, options: PeerOptions) -> Trained:
    """Return the vectors of gensim's Word2Vec; tokens: of all epochs, after subsampling.

    Raises InputError if no word is frequent enough.
    """
    import gensim
    from gensim.models import Word2Vec

    model = Word2Vec(
        sg=1, vector_size=options.dim, window=options.window, min_count=options.min_count,
        sample=_SAMPLE, negative=_NEGATIVE, epochs=options.epochs, workers=options.threads,
        seed=options.seed,
    )  # fmt: skip
    model.build_vocab(sentences)
    if not len(model.wv):
        raise InputError(f"no word occurs {options.min_count} times", do="check --corpus")
    trained, read = model.train(sentences, total_examples=model.corpus_count, epochs=options.epochs)
    note = (
        f"gensim {gensim.__version__} Word2Vec, window {options.window}, sample {_SAMPLE:g}, "
        f"negative {_NEGATIVE}, {options.epochs} epochs: trained on {trained:,} of {read:,} "
        f"tokens; {options.threads} threads"
    )
    return Trained(from_keyed_vectors(model.wv), trained, (note,))
