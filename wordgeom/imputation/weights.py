"""Fit weights that reconstruct entities from their neighbours (Yao et al. 2019, §4.2, eq. 2).

`simplex` solves eq. 2: minimise ‖x_i − Σ_j w_ij x_j‖ over weights ≥ 0 of sum 1. `nnls`, as in the
authors' program, leaves the sum free and normalises afterwards. It fits worse and depends on the
origin; use it only for comparison.

Weights are not unique where neighbours are dependent, as more than d + 1 of them are. Then those of
least norm are chosen (`least_norm`). Neighbours identical to the entity share all weight equally.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np

from wordgeom.core.types import Array, Csr, Float64, Int64
from wordgeom.imputation.graph import Graph
from wordgeom.imputation.identical import identical_limits
from wordgeom.imputation.least_norm import make_unique
from wordgeom.linalg.blas import one_thread
from wordgeom.runtime.block_map import map_blocks
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.scheduler import Result, Shared

Kind = Literal["simplex", "nnls"]
_ROWS = 512  # rows per block, unless that makes more blocks than a checkpoint should have
_MOST_BLOCKS = 256
_GATHERED = 256  # rows whose neighbours a thread copies at once
_STEPS = 10  # maximum steps of NNLS per neighbour
_ROUNDING = 1e-13  # weights below this share of a row's largest are rounding of 0


@dataclass(frozen=True)
class Weights:
    """Neighbour weights of some entities.

    matrix (rows × n) float64, row sums 1, zeros stored; equal, unconverged: numbers of rows with
    equal weights, because all were 0 or because the active set did not converge.
    """

    matrix: Csr
    equal: int
    unconverged: int


def fit_weights(
    points: Float64, graph: Graph, rows: Int64, kind: Kind, epsilon: float, context: Context
) -> Weights:
    """Fit the weights of the entities `rows`, ascending, on their in-neighbours in the graph.

    points (n × d) C-order; epsilon: multiple of a row's smallest positive weight that is added to
    each of its weights (0.1 in the authors' program).
    """
    edges, scheduler = graph.rows(rows), context.scheduler
    arrays = points, identical_limits(points), rows, edges.indptr, edges.indices, edges.data
    shared = tuple(scheduler.share(array) for array in arrays)
    step = max(_ROWS, -(-len(rows) // _MOST_BLOCKS))
    blocks = _blocks(0, len(rows), step)
    sizes = (stop - start for start, stop in blocks)
    spec = _Problems(shared, kind, epsilon)
    done = map_blocks(_fit, blocks, spec, context, "weights", portable=True)
    follow = context.progress.follow
    fitted = list(follow(done, "weights", len(rows), "rows", lambda _: next(sizes)))
    scheduler.release(*shared)
    data = np.concatenate([np.empty(0), *(result["data"] for result in fitted)])
    equal, unconverged = (sum(int(result["counts"][k]) for result in fitted) for k in (0, 1))
    return Weights(Csr(edges.indptr, edges.indices, data, len(points)), equal, unconverged)


@dataclass(frozen=True)
class _Problems:
    """The problems of all rows.

    arrays: points, identical limits, rows, and indptr, indices and data of their edges.
    """

    arrays: tuple[Shared, ...]
    kind: Kind
    epsilon: float


def _fit(block: tuple[int, int], spec: _Problems) -> Result:
    """Return the weights of a block of rows, and the numbers of Weights."""
    from scipy.optimize import nnls  # before one_thread(), which limits the libraries it finds

    points, zeros, rows, indptr, indices, data = (array.open() for array in spec.arrays)
    edges, parts = Csr(indptr, indices, data, len(points)), []
    counts = np.zeros(2, np.int64)
    with one_thread():
        for start, stop in _blocks(*block, _GATHERED):
            part, entities = edges.block(start, stop), rows[start:stop]
            apart, owner = _differences(points, entities, part)
            squares = np.einsum("ec,ec->e", apart, apart)
            same = squares <= zeros[entities[owner]]
            if spec.kind == "simplex":
                vectors, targets = _simplex_problems(apart, squares, owner, part.indptr)
            else:
                vectors, targets = points[part.indices], points[entities]
            weights, unconverged = _solve_each(nnls, vectors, targets, part.indptr, same)
            counts += _normalise(weights, part.indptr, spec.epsilon) - unconverged, unconverged
            parts.append(weights)
    return {"data": np.concatenate(parts), "counts": counts}


def _simplex_problems(
    apart: Float64, squares: Float64, owner: Int64, indptr: Int64
) -> tuple[Float64, Float64]:
    """Return the vectors (edges × d + 1) and the targets (rows × d + 1) of NNLS problems.

    apart (edges × d): x_j − x_i; squares (edges): their squared lengths. A last coordinate √s is
    appended. Weights v = t w ≥ 0 of sum t then have the residual t² f(w) + s (1 − t)², where
    f(w) = ‖x_i − Σ w_j x_j‖². Its minimum over t, f s / (f + s), increases with f, so that v / t
    minimises f on the simplex, for any s > 0; s is the mean of the squared lengths.
    """
    roots = np.sqrt(_over_rows(np.add, squares, indptr, 0.0) / np.maximum(np.diff(indptr), 1))
    targets = np.zeros((len(roots), apart.shape[1] + 1))
    targets[:, -1] = roots
    return np.column_stack((apart, roots[owner])), targets


def _solve_each(
    nnls: Callable[..., tuple[Float64, float]],
    vectors: Float64,
    targets: Float64,
    indptr: Int64,
    same: Array,
) -> tuple[Float64, int]:
    """Return the NNLS weights (edges) of all rows, and how many did not converge: these are 0.

    same (edges): whether the neighbour is identical to the entity.
    """
    weights = np.zeros(len(vectors))
    for row, (start, stop) in enumerate(pairwise(indptr.tolist())):
        if same[start:stop].any():
            weights[start:stop] = same[start:stop]
        elif start < stop:
            columns, most = vectors[start:stop].T, _STEPS * (stop - start)
            with suppress(RuntimeError):  # zeros are not optimal: `make_unique` improves them
                weights[start:stop], _ = nnls(columns, targets[row], maxiter=most)
    return weights, make_unique(vectors, targets, indptr, same, weights)


def _normalise(weights: Float64, indptr: Int64, epsilon: float) -> int:
    """Add epsilon × a row's smallest positive weight to all of them, and divide by their sum.

    In place. Rows of zeros get equal weights; their number is returned.
    """
    owner = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    largest = _over_rows(np.maximum, weights, indptr, 0.0)
    weights[weights < _ROUNDING * largest[owner]] = 0.0
    least = _over_rows(np.minimum, np.where(weights > 0, weights, np.inf), indptr, np.inf)
    zero = largest == 0
    weights += np.where(zero, 1.0, epsilon * np.where(zero, 0.0, least))[owner]
    weights /= _over_rows(np.add, weights, indptr, 0.0)[owner]
    return int(zero.sum())


def reconstruction_errors(points: Float64, matrix: Csr, rows: Int64, pool: Pool) -> Float64:
    """Return ‖x_i − Σ_j w_ij x_j‖ of the entities `rows`, for weights (rows × n) of sum 1."""

    def measure(block: tuple[int, int]) -> Float64:
        part = matrix.block(*block)
        apart, _ = _differences(points, rows[slice(*block)], part)
        apart *= part.data[:, None]
        rest = _over_rows(np.add, apart, part.indptr, 0.0)
        return np.asarray(np.sqrt(np.einsum("rc,rc->r", rest, rest)))

    blocks = _blocks(0, len(rows), _GATHERED)
    return np.concatenate([np.empty(0), *pool.map(measure, blocks)])


def _differences(points: Float64, entities: Int64, edges: Csr) -> tuple[Float64, Int64]:
    """Return x_j − x_i of each edge (edges × d), and the number of its row (edges)."""
    owner = edges.entry_rows
    apart = points[edges.indices]
    apart -= points[entities[owner]]
    return apart, owner


def _over_rows(reduce: np.ufunc, values: Array, indptr: Int64, empty: float) -> Array:
    """Return the reduction of each row's values (edges, …); `empty` for rows without values."""
    filled = np.diff(indptr) > 0  # `reduceat` does not know rows without values
    reduced = np.full((len(filled), *values.shape[1:]), empty)
    reduced[filled] = reduce.reduceat(values, indptr[:-1][filled])
    return reduced


def _blocks(start: int, stop: int, step: int) -> list[tuple[int, int]]:
    return [(first, min(first + step, stop)) for first in range(start, stop, step)]
