"""Quadratic problems of all pairs: the eigenvectors of dense matrices (§3.2).

Each recipe has a symmetric matrix L (n × n) with L1 = 0, and X = √n times its eigenvectors of the
smallest eigenvalues, without the constant one, minimises tr XᵀLX over 1ᵀX = 0, XᵀX/n = I.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from wordgeom.core.errors import InputError, OptionError, RankError
from wordgeom.core.types import Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.dense_eigenpairs import largest_of_dense
from wordgeom.linalg.nearest_neighbours import nearest
from wordgeom.linalg.signs import fix_signs
from wordgeom.methods.contract import Result
from wordgeom.methods.inputs.item_pairs import ItemPairs
from wordgeom.methods.mde.construction import Construction
from wordgeom.methods.mde.graphs.components import adjacency, component_of
from wordgeom.methods.mde.graphs.neighbours import EUCLIDEAN
from wordgeom.methods.mde.options import Options
from wordgeom.methods.mde.pairs import Pairs
from wordgeom.methods.mde.recipes import ISOMAP, LLE, PCA
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

_ROUNDING = 1e-10  # of an eigenvalue relative to the largest
_DENSE = 5  # n × n arrays at once
_REGULAR = 1e-3  # of the trace, scikit-learn's regularisation of LLE's weights


def embed(
    items: Any, given: ItemPairs | None, K: int, options: Options, context: Context
) -> Result:
    """Return the vectors (n × K) of a spectral recipe. Raises InputError, RankError."""
    n, made = len(items.words), Construction(items, given, options, context)
    if options.recipe == PCA or (options.recipe not in (ISOMAP, LLE) and given is None):
        points = made.points(EUCLIDEAN if options.recipe == PCA else options.metric)
        _check_whole(len(points.rows), n)
        vectors, notes = _whitened(points.points, K), made.notes
    else:
        what = f"the {n:,} × {n:,} arrays of --recipe {options.recipe}"
        do = "embed fewer items, choose another recipe, or raise --memory"
        check_memory(what, 8 * _DENSE * n * n, context.memory, do)
        if options.recipe == LLE:
            L = _unexplained(made, n, options, context)
        else:
            L = _from_distances(made, given, n, options, context)
        vectors, notes = _smallest(L, K), made.notes
    statistics = {"recipe": options.recipe, **made.statistics}
    return Result(np.ascontiguousarray(vectors, np.float32), {}, notes, statistics)


def principal_axes(points: Float64, K: int) -> Float64:
    """Return centred points (n × d) on their principal axes, (n × r), r ≤ K above rounding."""
    Y = points - points.mean(axis=0)
    with one_thread():
        wide = Y.shape[1] > len(Y)
        values, vectors = largest_of_dense(Y @ Y.T if wide else Y.T @ Y, min(K, *Y.shape))
        used = values > _ROUNDING * values[0]
        axes = vectors[:, used] * np.sqrt(values[used]) if wide else Y @ vectors[:, used]
    return fix_signs(axes)


def _whitened(points: Float64, K: int) -> Float64:
    """Return the principal axes (n × K) of points with variance 1. Raises RankError."""
    axes = principal_axes(points, K)
    if axes.shape[1] < K:
        raise RankError(f"the items lie in {axes.shape[1]} dimensions, fewer than --dim {K}",
                        do="lower --dim")  # fmt: skip
    return np.asarray(axes / np.sqrt(np.mean(axes**2, axis=0)))


def _smallest(L: Float64, K: int) -> Float64:
    """Return √n times the eigenvectors (n × K) of L of the smallest eigenvalues after the constant.

    L is overwritten.
    """
    n = len(L)
    L += float(np.abs(L).sum(axis=1).max()) / n  # the constant vector moves to the other end
    _, vectors = largest_of_dense(-L, K)
    return np.asarray(fix_signs(vectors) * np.sqrt(n))


def _from_distances(
    made: Construction, given: ItemPairs | None, n: int, options: Options, context: Context
) -> Float64:
    """Return L = ½ J D J of squared distances D: those of the pairs, or those of paths."""
    if options.recipe == ISOMAP:
        lengths = _all_paths(made.edges(), n, context)
    else:
        pairs = made.edges()
        if len(pairs) < n * (n - 1) // 2:
            what = f"--recipe {options.recipe} needs a deviation for each pair of items"
            found = f"{len(pairs):,} of {n * (n - 1) // 2:,}"
            raise InputError(what, found=found, do="pass --recipe mds, which needs only some")
        lengths = adjacency(pairs, n).toarray()
        lengths += lengths.T
    squared: Float64 = np.square(lengths, out=lengths)
    squared -= squared.mean(axis=0)
    squared -= squared.mean(axis=1)[:, None]
    return 0.5 * squared


def _all_paths(edges: Pairs, n: int, context: Context) -> Float64:
    """Return the lengths (n × n) of shortest paths. Raises InputError for a disconnected graph."""
    from scipy.sparse.csgraph import dijkstra

    components = component_of(edges, n)
    if components.any():
        sizes = np.bincount(components)
        what = f"the graph of neighbours has {len(sizes):,} components"
        do = "raise --neighbours, or pass --recipe kamada-kawai"
        raise InputError(f"{what}, the largest of {sizes[0]:,} items", do=do)
    graph = adjacency(edges, n)
    blocks = [np.arange(k, min(k + 256, n)) for k in range(0, n, 256)]
    parts = context.pool.map(lambda rows: dijkstra(graph, directed=False, indices=rows), blocks)
    return np.concatenate(list(parts))


def _unexplained(made: Construction, n: int, options: Options, context: Context) -> Float64:
    """Return (I − W)ᵀ(I − W), where W makes each item a weighted mean of its neighbours."""
    points = made.points(options.metric)
    _check_whole(len(points.rows), n)
    k = min(options.neighbours, n - 1)
    found = nearest(points.points, k, context.pool).indices
    rest = np.eye(n)
    with one_thread():
        for row, others in enumerate(found):
            apart = points.points[others] - points.points[row]
            gram = apart @ apart.T
            trace = float(np.trace(gram))
            gram.flat[:: k + 1] += _REGULAR * trace if trace > 0.0 else _REGULAR
            weights = np.linalg.solve(gram, np.ones(k))
            rest[row, others] -= weights / weights.sum()
        return np.asarray(rest.T @ rest)


def _check_whole(used: int, n: int) -> None:
    if used < n:
        raise OptionError(f"{n - used:,} items have zero vectors, which have no cosine",
                          do="pass --metric euclidean")  # fmt: skip
