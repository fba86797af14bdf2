"""The locally linear extension of an embedding from landmarks to all points (§3, Appendix C).

Every point, landmarks too, is to be reconstructed by the same neighbours and weights as its input.
With M = I − W this is min ‖M_u Y_u + M_k Y_k‖², whose normal equations (eq. 27) are solved by
conjugate gradients, preconditioned by the diagonal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from wordgeom.core.ops import Operator
from wordgeom.core.types import Array, Csr, Float32, Float64, Int32, Int64, offsets
from wordgeom.linalg.nearest_neighbours import nearest
from wordgeom.linalg.svd import transpose
from wordgeom.methods.tsm.similarities import lengths
from wordgeom.methods.tsm.weights import reconstruction_weights
from wordgeom.optim.conjugate_gradients import solve
from wordgeom.runtime.context import Context

_MOST = 5000  # steps of conjugate gradients
_SINGLE = 1e-4  # the smallest tolerance that products in single precision reach safely


@dataclass(frozen=True)
class Extension:
    """Vectors of all points.

    vectors (n × d) float32; steps: of conjugate gradients; residual: of the normal equations,
    relative to their right side, the largest of the columns; reached: whether that is the
    tolerance; stranded: points that no chain of neighbours joins to a landmark, whose vectors are
    0; recall: of the neighbours.
    """

    vectors: Float32
    steps: int
    residual: float
    reached: bool
    stranded: int
    recall: float


def extend(
    points: Float64, landmarks: Int64, known: Float32, k: int, penalty: float, tol: float,
    context: Context,
) -> Extension:  # fmt: skip
    """Return the extension of known (m × d), the vectors of the rows `landmarks` of points (n × K).

    points: nonzero; k: neighbours by cosine; penalty: ε of eq. 14.
    """
    pool, progress = context.pool, context.progress
    near = nearest(points / lengths(points)[:, None], k, pool, progress)
    weights = reconstruction_weights(points, near.indices, penalty, pool, progress)
    unknown = np.ones(len(points), bool)
    unknown[landmarks] = False
    matrix = reconstruction_matrix(near.indices, weights)
    made, steps, residual = _solved(matrix, unknown, known, tol, context)
    vectors = np.empty((len(points), known.shape[1]), np.float32)
    vectors[landmarks], vectors[unknown] = known, made
    stranded = _stranded(matrix, unknown)
    return Extension(vectors, steps, residual, steps < _MOST, stranded, near.recall)


def reconstruction_matrix(neighbours: Int32, weights: Float64) -> Csr:
    """Return I − W (n × n); neighbours, weights (n × k), no point its own neighbour."""
    n, k = neighbours.shape
    columns = np.column_stack((np.arange(n, dtype=np.int32), neighbours))
    entries = np.column_stack((np.ones(n), -weights))
    order = np.argsort(columns, axis=1, kind="stable")
    indices = np.take_along_axis(columns, order, axis=1).ravel()
    return Csr(
        np.arange(n + 1) * (k + 1), indices, np.take_along_axis(entries, order, 1).ravel(), n
    )


def _solved(
    matrix: Csr, unknown: Array, known: Float32, tol: float, context: Context
) -> tuple[Float64, int, float]:
    """Return Y_u, the steps that it took, and the largest relative residual."""
    ops, steps = context.ops, 0
    dtype = np.float32 if tol >= _SINGLE else np.float64
    own = _columns(matrix, unknown)
    other = _columns(matrix, ~unknown)
    forward, back, given = (
        ops.operator(replace(each, data=each.data.astype(dtype)))
        for each in (own, transpose(own), other)
    )

    def product(operator: Operator, dense: Array) -> Array:
        return ops.to_numpy(operator.multiply(ops.tall(dense, dtype)))

    def multiply(dense: Float64) -> Float64:
        nonlocal steps
        steps += 1
        return product(back, product(forward, dense)).astype(np.float64)

    right = -product(back, product(given, known)).astype(np.float64)
    diagonal = np.bincount(own.indices, np.square(own.data), own.columns).astype(np.float64)
    made = solve(multiply, diagonal, right, tol=tol, most=_MOST)
    taken = steps
    rest = np.linalg.norm(multiply(made) - right, axis=0)
    sizes = np.linalg.norm(right, axis=0)
    relative = np.divide(rest, sizes, out=np.zeros(len(rest)), where=sizes > 0.0)
    return made, taken, float(relative.max(initial=0.0))


def _columns(matrix: Csr, chosen: Array) -> Csr:
    """Return some columns of a matrix; chosen (n) bool."""
    kept = chosen[matrix.indices]
    numbers = (np.cumsum(chosen) - 1).astype(np.int32)
    counts = np.add.reduceat(kept, matrix.indptr[:-1], dtype=np.int64)
    return Csr(offsets(counts), numbers[matrix.indices[kept]], matrix.data[kept], int(chosen.sum()))


def _stranded(matrix: Csr, unknown: Array) -> int:
    """Return the number of unknown rows in components without a known one."""
    import scipy.sparse
    from scipy.sparse.csgraph import connected_components

    parts = (np.ones(matrix.nnz, np.int8), matrix.indices, matrix.indptr)
    graph = scipy.sparse.csr_array(parts, shape=(matrix.rows, matrix.columns))
    number, labels = connected_components(graph, directed=False)
    anchored = np.zeros(number, bool)
    anchored[labels[~unknown]] = True
    return int((~anchored[labels]).sum())
