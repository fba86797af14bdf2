"""The hot loop of weighted sweeps: least squares of each row by conjugate gradients.

The system of a row is (I + Σ c_j o_j o_jᵀ) x = Σ c_j g_j o_j, where I stands for background and
ridge (row_solver.py). It is never formed: its product with a vector is a pass over the o_j. Where
they are s ∘ z_j, with one s for each row, the vector is multiplied instead of the z_j
(logistic_row_kernels.py).
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.linalg.row_sum_kernels import CHUNK, add_some, add_some_twice, multiply_some
from wordgeom.runtime.jit import summing_kernel


@summing_kernel
def solve_rows(
    indptr: Int64, indices: Int32, targets: Array, weights: Array, other: Array,
    low: int, high: int, tol: float, most: int, x: Array, gains: Array, steps: Int32,
) -> None:  # fmt: skip
    """Solve the rows [low, high), starting from and overwriting x (V × K).

    other (m × K); targets, weights (nnz) of the pattern. Iterates to a residual of tol ‖b‖, or
    `most` steps. gains (V): Σ c_j g_j² minus the objective of the row; steps (V): iterations of the
    row.
    """
    K = other.shape[1]
    b, r, scale = np.empty(K, other.dtype), np.empty(K, other.dtype), np.ones(K, other.dtype)
    for i in range(low, high):
        row = slice(indptr[i], indptr[i + 1])
        columns, confidences = indices[row], weights[row]
        _set_up(other, columns, confidences, targets[row], x[i], b, r)
        steps[i] = conjugate_gradients(other, columns, confidences, scale, b, x[i], r, tol, most)
        gain = 0.0
        for k in range(K):
            gain += x[i, k] * (b[k] + r[k])
        gains[i] = gain


@summing_kernel
def _set_up(
    other: Array, columns: Int32, weights: Array, targets: Array, x: Array, b: Array, image: Array
) -> None:
    """Set b to Σ c_j g_j o_j, and image to (I + Σ c_j o_j o_jᵀ) x."""
    b[:] = np.zeros(1, b.dtype)[0]
    image[:] = x
    along, pulls = np.empty(CHUNK, b.dtype), np.empty(CHUNK, b.dtype)
    for start in range(0, len(columns), CHUNK):
        chunk = slice(start, min(start + CHUNK, len(columns)))
        multiply_some(other, columns[chunk], x, along)
        for t in range(chunk.stop - start):
            along[t] *= weights[start + t]
            pulls[t] = weights[start + t] * targets[start + t]
        add_some_twice(other, columns[chunk], along, image, pulls, b)


@summing_kernel
def conjugate_gradients(
    rows: Array, places: Int32, weights: Array, scale: Array, b: Array, x: Array, r: Array,
    tol: float, most: int,
) -> int:  # fmt: skip
    """Solve (I + Σ c_j o_j o_jᵀ) x = b from x; set r to the residual and return the steps.

    The o_j are scale ∘ rows[places]; r is the left side on entry.
    """
    K = len(b)
    p, q, scaled = np.empty(K, b.dtype), np.empty(K, b.dtype), np.empty(K, b.dtype)
    along = np.empty(CHUNK, b.dtype)
    zero = np.zeros(1, b.dtype)[0]
    rr = bb = ahead = zero
    for k in range(K):
        r[k] = b[k] - r[k]
        p[k] = r[k]
        ahead += x[k] * (b[k] + r[k])
        rr += r[k] * r[k]
        bb += b[k] * b[k]
    if ahead < zero:  # a worse start than 0: restart there, since rounding scales with x
        x[:] = zero
        r[:] = b
        p[:] = b
        rr = bb
    step = 0
    while rr > tol * tol * bb and step < most:
        _times(rows, places, weights, scale, p, q, scaled, along)
        pq = zero
        for k in range(K):
            pq += p[k] * q[k]
        length, before = rr / pq, rr
        rr = zero
        for k in range(K):
            x[k] += length * p[k]
            r[k] -= length * q[k]
            rr += r[k] * r[k]
        turn = rr / before
        for k in range(K):
            p[k] = r[k] + turn * p[k]
        step += 1
    return step


@summing_kernel
def _times(
    rows: Array, places: Int32, weights: Array, scale: Array, p: Array, q: Array, scaled: Array,
    along: Array,
) -> None:  # fmt: skip
    """Set q to (I + Σ c_j o_j o_jᵀ) p, where the o_j are scale ∘ rows[places].

    scaled (K), along (CHUNK): room.
    """
    zero = np.zeros(1, p.dtype)[0]
    for k in range(len(p)):
        scaled[k] = scale[k] * p[k]
        q[k] = zero
    for start in range(0, len(places), CHUNK):
        chunk = slice(start, min(start + CHUNK, len(places)))
        multiply_some(rows, places[chunk], scaled, along)
        for t in range(chunk.stop - start):
            along[t] *= weights[start + t]
        add_some(rows, places[chunk], along, q)
    for k in range(len(p)):
        q[k] = p[k] + scale[k] * q[k]
