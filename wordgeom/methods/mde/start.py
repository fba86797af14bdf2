"""The vectors from which a descent starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from wordgeom.core.errors import InputError
from wordgeom.core.formatting import several
from wordgeom.core.types import Array, Float32, Int64
from wordgeom.methods.mde.construction import Graph, rows_of
from wordgeom.methods.mde.graphs.components import component_of
from wordgeom.methods.mde.graphs.neighbours import Points
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.runtime.context import Context

if TYPE_CHECKING:
    from wordgeom.vectors.keyed import Vectors

_SMALL = 1e-2  # deviation of the vectors of a small component about its centre


def quadratic(near: Pairs, n: int, K: int, context: Context, *, exact: bool) -> Float32:
    """Return vectors (n × K) of a quadratic problem: close pairs are close, with variance 1.

    Without exact, each connected component has a problem of its own and a random centre: those of a
    common one would put each in a point, and the smallest far from all others.
    """
    from wordgeom.methods.mde.quadratic import standardized

    seed = int(context.rng.integers(1 << 62))
    components = component_of(near, n)
    sizes = np.bincount(components)
    if exact or len(sizes) == 1:
        return np.asarray(standardized(near, n, K, context.pool, seed, exact=exact))
    start = context.rng.standard_normal((len(sizes), K), np.float32)
    start[0] = 0.0
    vectors = start[components]
    vectors += _SMALL * context.rng.standard_normal((n, K), np.float32)
    places = np.empty(n, np.int32)
    order = np.argsort(components, kind="stable")
    ends = np.cumsum(sizes)
    owner = components[near.left]
    by_owner = np.argsort(owner, kind="stable")
    edges = np.searchsorted(owner[by_owner], np.arange(len(sizes) + 1))
    for c, size in enumerate(sizes):
        if size <= K + 1:
            break  # components are by size
        rows = np.sort(order[ends[c] - size : ends[c]])
        places[rows] = np.arange(size, dtype=np.int32)
        own = np.sort(by_owner[edges[c] : edges[c + 1]])
        part = Pairs(places[near.left[own]], places[near.right[own]], near.given[own])
        share = (size / n) ** (1.0 / K)  # by which random items would be as dense
        vectors[rows] = start[c] + share * standardized(part, int(size), K, context.pool, seed)
    return vectors


def principal(points: Points, K: int, context: Context) -> Float32:
    """Return points on their principal axes, (n × K); where there is neither, small noise."""
    from wordgeom.methods.mde.classical import principal_axes

    axes = principal_axes(points.points, K)
    vectors = _SMALL * axes.std() * context.rng.standard_normal((points.items, K))
    vectors[points.rows, : axes.shape[1]] += axes
    return np.asarray(vectors, np.float32)


def around_anchors(
    near: Pairs, n: int, rows: Int64, values: Array, context: Context
) -> tuple[Float32, int]:
    """Return the vectors (n × K) of which each free one is the mean of its neighbours.

    Also the number of items that no path of pairs joins to an anchor, which start at random.
    rows (a), values (a × K): those of the anchors.
    """
    from wordgeom.methods.mde.quadratic import harmonic

    vectors = harmonic(near, n, rows, values.astype(np.float64), context.pool)
    components = component_of(near, n)
    alone = ~np.isin(components, components[rows])
    noise = context.rng.standard_normal((int(alone.sum()), values.shape[1]))
    vectors[alone] = values.mean(axis=0) + values.std() * noise
    return vectors.astype(np.float32), len(noise)


def at_random(n: int, K: int, context: Context) -> Float32:
    """Return independent normal entries (n × K)."""
    return context.rng.standard_normal((n, K), np.float32)


def of_file(init: Vectors, words: list[str], context: Context) -> tuple[Float32, list[str]]:
    """Return the vectors of a file for the items, random ones for items that it lacks, and notes.

    Raises InputError where it has none of them, or vectors that are not finite.
    """
    rows = rows_of(init.words, words)
    known = rows >= 0
    if not known.any():
        what = f"--init has none of the {len(words):,} items"
        raise InputError(what, do="start from vectors of the same items")
    found = init.matrix[rows[known]]
    if not np.isfinite(found).all():
        raise InputError("the vectors of --init are not finite", do="check the file")
    vectors = np.empty((len(words), init.matrix.shape[1]), np.float32)
    vectors[known] = found
    absent = len(words) - len(found)
    noise = context.rng.standard_normal((absent, vectors.shape[1]), np.float32)
    vectors[~known] = found.mean(axis=0) + found.std() * noise
    if not absent:
        return vectors, []
    return vectors, [f"{several(absent, 'item is', 'items are')} absent from --init: random start"]


def scaled(vectors: Float32, graph: Graph) -> Float32:
    """Return vectors (n × K), scaled to distances like the deviations, if the graph has any."""
    pairs = graph.deviations
    if not len(pairs):
        return vectors
    total = 0.0
    for at in range(0, len(pairs), 1 << 16):
        part = slice(at, at + (1 << 16))
        apart = vectors[pairs.left[part]] - vectors[pairs.right[part]]
        total += float(np.square(apart, dtype=np.float64).sum())
    wanted = float(np.square(pairs.given, dtype=np.float64).sum())
    return vectors * np.float32(np.sqrt(wanted / total)) if total else vectors
