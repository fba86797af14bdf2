"""Fit weights that reconstruct entities from their neighbours (Yao et al. 2019, §4.2, eq. 2).

`simplex` solves eq. 2: minimise ‖x_i − Σ_j w_ij x_j‖ over weights ≥ 0 of sum 1. `nnls`, as in the
authors' program, leaves the sum free and normalises afterwards. It fits worse and depends on the
origin; use it only for comparison.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from wordgeom.core.types import Csr, Float64, Int64
from wordgeom.imputation import weight_kernels as kernels
from wordgeom.imputation.graph import Graph
from wordgeom.runtime.block_map import Result, map_blocks
from wordgeom.runtime.context import Context
from wordgeom.runtime.pool import Pool

Kind = Literal["simplex", "nnls"]
_ROWS = 512  # rows per block, unless that makes more blocks than a checkpoint should have
_MOST_BLOCKS = 256


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
    points: Float64, graph: Graph, rows: Int64, kind: Kind, epsilon: float, context: Context
) -> Weights:
    """Fit the weights of the entities `rows`, ascending, on their in-neighbours in the graph.

    points (n × d) C-order; epsilon: multiple of a row's smallest positive weight that is added to
    each of its weights (0.1 in the authors' program).
    """
    edges, simplex = graph.rows(rows), kind == "simplex"
    indptr, indices, data = edges.indptr, edges.indices, np.empty(edges.nnz)

    def fit(block: tuple[int, int], _: None) -> Result:
        counts = np.zeros(2, np.int64)
        kernels.fit_rows(points, rows, indptr, indices, simplex, epsilon, *block, data, counts)
        return {"data": data[indptr[block[0]] : indptr[block[1]]], "counts": counts}

    blocks = _blocks(len(rows), max(_ROWS, -(-len(rows) // _MOST_BLOCKS)))
    done = map_blocks(fit, blocks, None, context, "weights")
    step = blocks[0][1] if blocks else 0
    fitted = context.progress.follow(done, "weights", len(rows), "rows", lambda _: step)
    counts = np.zeros(2, np.int64)
    for (start, stop), result in zip(blocks, fitted, strict=True):
        data[indptr[start] : indptr[stop]] = result["data"]
        counts += result["counts"]
    equal, unconverged = counts.tolist()
    matrix = Csr(indptr, indices, data, len(points))
    errors = reconstruction_errors(points, matrix, rows, context.pool)
    return Weights(matrix, errors, equal, unconverged)


def reconstruction_errors(points: Float64, matrix: Csr, rows: Int64, pool: Pool) -> Float64:
    """Return ‖x_i − Σ_j w_ij x_j‖ of the entities `rows`, for weights (rows × n) of sum 1."""
    errors = np.empty(len(rows))

    def measure(block: tuple[int, int]) -> None:
        kernels.measure_rows(
            points, rows, matrix.indptr, matrix.indices, matrix.data, *block, errors
        )

    for _ in pool.map(measure, _blocks(len(rows), _ROWS)):
        pass
    return errors


def _blocks(rows: int, step: int) -> list[tuple[int, int]]:
    return [(start, min(start + step, rows)) for start in range(0, rows, step)]
