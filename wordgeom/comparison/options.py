"""The options of `compare` itself."""

from __future__ import annotations

from dataclasses import dataclass

from wordgeom.core.options import Options, option


@dataclass(frozen=True)
class CompareOptions(Options):
    """What is trained and compared."""

    methods: str | None = option(
        None, "methods to train, separated by commas, or none  [all that fit]", metavar="A,B"
    )
    peers: str | None = option(
        None,
        "gensim's models to train on the same text: sgns, cbow, fasttext, lsi",
        metavar="A,B",
    )
    peer_epochs: int = option(
        5, "passes of the training of sgns, cbow and fasttext", low=1, high=10**6, metavar="N"
    )
    no_cache: bool = option(False, "train the peers, and do not keep them in the cache")
    dim: int = option(100, "dimension of the trained vectors", low=1, metavar="N")
    against: str | None = option(
        None, "baseline of the differences  [the first row]", metavar="NAME"
    )
    keep: str | None = option(
        None, "keep the counts and the trained vectors in this directory", metavar="DIR"
    )
    space: str | None = option(None, "replacement for white space in words", metavar="CHAR")
