"""Peers: another tool's models, trained on the text that was counted, to be compared with ours.

A peer is one file: `train(sentences, options) -> Trained`. Each runs in a process of its own
(`python -m wordgeom.peers`), so that its seconds and memory are its own; see cache.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module

from wordgeom.core.errors import OptionError
from wordgeom.core.options import suggestion
from wordgeom.vectors.keyed import Vectors

NAMES = ("sgns", "lsi")
Sentences = Iterable[list[str]]  # that can be walked through several times


@dataclass(frozen=True)
class PeerOptions:
    """What a peer is trained with: the counts' own figures, as far as it knows them."""

    dim: int
    window: int
    min_count: int
    threads: int
    seed: int
    epochs: int = 5


@dataclass(frozen=True)
class Trained:
    """A peer's vectors, the tokens that it was trained on, and what a reader must know."""

    vectors: Vectors
    tokens: int
    notes: tuple[str, ...]


Train = Callable[[Sentences, PeerOptions], Trained]


def load(name: str) -> Train:
    """Return a peer's `train`; raises OptionError for an unknown name, naming the closest."""
    if name not in NAMES:
        raise OptionError(f"unknown peer {name!r}", do=suggestion(name, NAMES))
    train: Train = import_module(f"wordgeom.peers.{name}").train
    return train
