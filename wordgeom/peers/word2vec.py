"""What gensim's models of the word2vec family share: their settings, training and notes.

The settings are word2vec's usual ones: sample 1e-3, 5 negatives. With more than one thread, the
vectors differ between runs.
"""

from __future__ import annotations

from typing import Any

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import plural
from wordgeom.peers import PeerOptions, Sentences, Trained
from wordgeom.vectors.keyed import from_keyed_vectors

_SAMPLE, _NEGATIVE = 1e-3, 5


def passes(options: PeerOptions) -> int:
    """Return the passes over the text: one for the vocabulary, and the epochs."""
    return 1 + options.epochs


def trained(make: Any, sentences: Sentences, options: PeerOptions, **more: Any) -> Trained:
    """Train a model of class `make`; tokens: of all epochs, after subsampling.

    more: settings of the class. The sentences hold only words of the vocabulary, so gensim's own
    minimum count is 1. Raises InputError for sentences without words.
    """
    import gensim

    model = make(
        vector_size=options.dim, window=options.window, min_count=1, sample=_SAMPLE,
        negative=_NEGATIVE, epochs=options.epochs, workers=options.threads, seed=options.seed,
        **more,
    )  # fmt: skip
    model.build_vocab(sentences)
    if not len(model.wv):
        raise InputError("the text contains no word of the counts", do="check --corpus")
    used, read = model.train(sentences, total_examples=model.corpus_count, epochs=options.epochs)
    settings = "".join(f"{name} {value:,}, " for name, value in more.items())
    note = (
        f"gensim {gensim.__version__} {make.__name__}, {settings}window {options.window}, "
        f"sample {_SAMPLE:g}, negative {_NEGATIVE}, {plural(options.epochs, 'epoch')}: "
        f"trained on {used:,} of {read:,} tokens; {plural(options.threads, 'thread')}"
    )
    return Trained(from_keyed_vectors(model.wv), used, (note,))
