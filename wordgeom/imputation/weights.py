"""Fit weights that reconstruct entities from their neighbours (Yao et al. 2019, §4.2, eq. 2).

`simplex` solves eq. 2: minimise ‖x_i − Σ_j w_ij x_j‖ over weights ≥ 0 of sum 1. `nnls`, as in the
authors' program, leaves the sum free and normalises afterwards. It fits worse and depends on the
origin; use it only for comparison.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np

from wordgeom.core.types import Csr, Float64, Int64
from wordgeom.imputation import weight_kernels as kernels
from wordgeom.imputation.graph import Graph
from wordgeom.runtime.pool import Pool
from wordgeom.runtime.progress import Progress

_Value = TypeVar("_Value")
Kind = Literal["simplex", "nnls"]
_ROWS = 512  # rows per block


@dataclass(frozen=True)
class Weights:
    """Neighbour weights of some entities.

    matrix (rows × n) float64, row sums 1, zeros stored; errors (rows): ‖x_i − Σ w_ij x_j‖; equal:
    number of rows with equal weights because all were 0; unconverged: number of rows whose active
    set did not converge.
    """

    matrix: Csr
    errors: Float64
    equal: int
    unconverged: int


def fit_weights(
    points: Float64,
    graph: Graph,
    rows: Int64,
    kind: Kind,
    epsilon: float,
    pool: Pool,
    progress: Progress,
) -> Weights:
    """Fit the weights of the entities `rows`, ascending, on their in-neighbours in the graph.

    points (n × d) C-order; epsilon: multiple of a row's smallest positive weight that is added to
    each of its weights (0.1 in the authors' program).
    """
    edges, simplex = graph.rows(rows), kind == "simplex"
    indptr, indices, data = edges.indptr, edges.indices, np.empty(edges.nnz)

    def fit(block: tuple[int, int]) -> Int64:
        counts = np.zeros(2, np.int64)
        kernels.fit_rows(points, rows, indptr, indices, simplex, epsilon, *block, data, counts)
        return counts

    done = _by_rows(pool, len(rows), fit)
    followed = progress.follow(done, "weights", len(rows), "rows", lambda _: _ROWS)
    equal, unconverged = np.sum(list(followed), axis=0, initial=0).tolist()
    matrix = Csr(indptr, indices, data, len(points))
    return Weights(matrix, reconstruction_errors(points, matrix, rows, pool), equal, unconverged)


def reconstruction_errors(points: Float64, matrix: Csr, rows: Int64, pool: Pool) -> Float64:
    """Return ‖x_i − Σ_j w_ij x_j‖ of the entities `rows`, for weights (rows × n) of sum 1."""
    errors = np.empty(len(rows))

    def measure(block: tuple[int, int]) -> None:
        kernels.measure_rows(
            points, rows, matrix.indptr, matrix.indices, matrix.data, *block, errors
        )

    for _ in _by_rows(pool, len(rows), measure):
        pass
    return errors


def _by_rows(
    pool: Pool, rows: int, function: Callable[[tuple[int, int]], _Value]
) -> Iterator[_Value]:
    """Yield function(block) for blocks of rows, in order."""
    blocks = ((start, min(start + _ROWS, rows)) for start in range(0, rows, _ROWS))
    return pool.map(function, blocks)
