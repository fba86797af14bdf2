"""Peers: baselines of other tools, trained on the text of the co-occurrence counts.

A peer is one file with `train(sentences, options) -> Trained`, and `passes(options)`: how often it
reads the text. Each runs in its own process (`python -m wordgeom.peers`), so that its time and
memory can be measured; see cache.py.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from wordgeom.core.errors import OptionError
from wordgeom.core.options import suggestion
from wordgeom.vectors.keyed import Vectors

NAMES = ("sgns", "cbow", "fasttext", "lsi")
Sentences = Iterable[list[str]]  # can be iterated several times


@dataclass(frozen=True)
class PeerOptions:
    """Settings of a peer; epochs: passes of gensim's training over the text."""

    dim: int
    window: int
    threads: int
    seed: int
    epochs: int = 5


@dataclass(frozen=True)
class Trained:
    """The vectors of a peer, the number of tokens that it was trained on, and notes."""

    vectors: Vectors
    tokens: int
    notes: tuple[str, ...]


class Peer(Protocol):
    """The module of a peer."""

    def passes(self, options: PeerOptions) -> int:
        """Return how often `train` iterates over the sentences."""

    def train(self, sentences: Sentences, options: PeerOptions) -> Trained:
        """Return the vectors of the words of the sentences; raises InputError."""


def load(name: str) -> Peer:
    """Return a peer's module; raises OptionError for an unknown name, naming the closest."""
    if name not in NAMES:
        raise OptionError(f"unknown peer {name!r}", do=suggestion(name, NAMES))
    return cast(Peer, import_module(f"wordgeom.peers.{name}"))
