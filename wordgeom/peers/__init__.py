"""Peers: baselines of other tools, trained on the text of the co-occurrence counts.

A peer is one file with `train(sentences, options) -> Trained`. Each runs in its own process
(`python -m wordgeom.peers`), so that its time and memory can be measured; see cache.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module

from wordgeom.core.errors import OptionError
from wordgeom.core.options import suggestion
from wordgeom.vectors.keyed import Vectors

NAMES = ("sgns", "lsi")
Sentences = Iterable[list[str]]  # can be iterated several times


@dataclass(frozen=True)
class PeerOptions:
    """Settings of a peer, equal to those of the counts where it has them."""

    dim: int
    window: int
    min_count: int
    threads: int
    seed: int
    epochs: int = 5


@dataclass(frozen=True)
class Trained:
    """The vectors of a peer, the number of tokens that it was trained on, and notes."""

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
