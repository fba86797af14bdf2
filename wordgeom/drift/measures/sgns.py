"""Vectors of each period by gensim's skip-gram, aligned by Procrustes; no p.

A document-term matrix does not hold the order of words. A passage is therefore a bag: its tokens in
a random order, which the seed determines, with a window that spans the passage, up to 100 tokens on
each side, since more would only repeat the same sample of contexts at a higher cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.errors import UnavailableError
from wordgeom.core.types import Array, Int64
from wordgeom.drift.measures import procrustes
from wordgeom.drift.measures.passages import Passages
from wordgeom.drift.measures.results import Measured
from wordgeom.peers import PeerOptions, sgns
from wordgeom.peers.sentences import LONGEST
from wordgeom.runtime.context import Context
from wordgeom.vectors.nearest import unit_vectors

_WIDEST = 100


def measure(
    passages: Passages, names: list[str], words: Int64, dim: int, context: Context
) -> Measured:
    """Return the change of words (w), rows of the vocabulary; names (V): the vocabulary.

    Raises UnavailableError without gensim.
    """
    window = int(min(max(passages.lengths.max() - 1, 1), _WIDEST))
    # gensim's vectors are the same at every run with one thread only.
    options = PeerOptions(dim, window, threads=1, seed=context.seed % 2**32)
    units = []
    periods = enumerate((~passages.late, passages.late))
    for number, late in context.progress.follow(periods, "skip-gram", 2, "periods", lambda _: 1):
        rows = np.flatnonzero(late[passages.documents])
        bags = _Bags(passages, names, rows, (context.seed, number))
        try:
            trained = sgns.train(bags, options).vectors
        except ImportError:
            what, do = "--measure sgns needs gensim", "pip install gensim"
            raise UnavailableError(what, do=do) from None
        places = [trained.index[names[word]] for word in words.tolist()]
        units.append(unit_vectors(trained.matrix[places]))
    method = f"{procrustes.METHOD}; vectors of each period by gensim's skip-gram on shuffled "
    method += f"passages, dimension {dim}, window {window}, {options.epochs} epochs"
    return procrustes.measure(units[0], units[1], method)


@dataclass(frozen=True, eq=False)
class _Bags:
    """The tokens of passages in random order, the same at every iteration."""

    passages: Passages
    names: list[str]
    rows: Int64
    seed: tuple[int, int]

    def __iter__(self) -> Iterator[list[str]]:
        rng, X = np.random.default_rng(self.seed), self.passages.X
        for row in self.rows.tolist():
            part = slice(X.indptr[row], X.indptr[row + 1])
            tokens: Array = rng.permutation(np.repeat(X.indices[part], X.data[part].astype(int)))
            for start in range(0, len(tokens), LONGEST):
                yield [self.names[word] for word in tokens[start : start + LONGEST].tolist()]
