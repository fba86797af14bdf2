"""Lengths of shortest paths in a graph, from random sources (§4.3.2)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from wordgeom.core.types import Array, Float64, Int64
from wordgeom.methods.mde.graphs.components import adjacency
from wordgeom.methods.mde.graphs.keys import to_keys, to_pairs
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

_SOURCES = 256  # at least, where there are as many items: few would stand out
_BLOCK = 1 << 21  # numbers of the distances from a block of sources


@dataclass(frozen=True)
class Paths:
    """Path lengths of pairs; apart: pairs without a path, or only a longer one, left out."""

    pairs: Pairs
    apart: int


def shortest_paths(
    graph: Pairs, n: int, number: int, rng: np.random.Generator, pool: Pool,
    *, longest: float = math.inf, progress: Progress | None = None,
) -> Paths:  # fmt: skip
    """Return path lengths of about `number` random pairs of n items, or of all pairs.

    graph: lengths of edges, ≥ 0; longest: paths beyond it do not count.
    """
    sources, targets = _plan(n, number)
    chosen = np.sort(rng.permutation(n)[:sources])
    seeds = rng.integers(1 << 62, size=sources)
    edges = adjacency(graph, n)
    rows = max(1, _BLOCK // n)
    blocks = [slice(k, k + rows) for k in range(0, sources, rows)]

    def run(block: slice) -> tuple[Int64, Float64]:
        from scipy.sparse.csgraph import dijkstra

        lengths = dijkstra(edges, directed=False, indices=chosen[block], limit=longest)
        return _sampled(chosen[block], lengths, targets, seeds[block])

    done: Iterator[tuple[Int64, Float64]] = pool.map(run, blocks)
    shown = progress or Progress()
    parts = list(shown.follow(done, "shortest paths", len(blocks), "blocks", lambda _: 1))
    keys, places = np.unique(np.concatenate([part[0] for part in parts]), return_index=True)
    lengths = np.concatenate([part[1] for part in parts])[places]
    reached = np.isfinite(lengths)
    pairs = to_pairs(keys[reached], n, lengths[reached])
    return Paths(pairs, int(np.count_nonzero(~reached)))


def _plan(n: int, number: int) -> tuple[int, int]:
    """Return the number of sources, and that of targets of each."""
    if number >= n * (n - 1) // 2:
        return n, n - 1
    sources = min(n, max(_SOURCES, -(-number // (n - 1))))
    return sources, min(n - 1, -(-number // sources))


def _sampled(sources: Int64, lengths: Float64, targets: int, seeds: Int64) -> tuple[Int64, Float64]:
    """Return keys and lengths of random targets of each source, from its lengths (s × n)."""
    n = lengths.shape[1]
    keys: list[Array] = []
    found: list[Array] = []
    for source, own, seed in zip(sources, lengths, seeds, strict=True):
        drawn = np.random.default_rng(seed).choice(n - 1, targets, replace=False)
        drawn += drawn >= source  # all but the source
        keys.append(to_keys(source, drawn, n))
        found.append(own[drawn])
    return np.concatenate(keys), np.concatenate(found)
