"""The hot loop of weighted sweeps: least squares of each row by conjugate gradients.

The system of a row is (I + Σ c_j o_j o_jᵀ) x = Σ c_j g_j o_j, where I stands for background and
ridge (row_solver.py). It is never formed: its product with a vector is a pass over the o_j, four at
a time. The o_j are gathered if they then fit in a core's cache. Where they are s ∘ z_j, with one s
for each row, the vector is multiplied instead of the z_j (logistic_row_kernels.py).
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Int32, Int64
from wordgeom.runtime.jit import summing_kernel


@summing_kernel
def solve_rows(
    indptr: Int64, indices: Int32, targets: Array, weights: Array, other: Array,
    low: int, high: int, tol: float, most: int, nearby: int, x: Array, gains: Array, steps: Int32,
) -> None:  # fmt: skip
    """Solve the rows [low, high), starting from and overwriting x (V × K).

    other (m × K); targets, weights (nnz) of the pattern. Iterates to a residual of tol ‖b‖, or
    `most` steps. nearby: maximum of gathered rows; gains (V): Σ c_j g_j² minus the objective of the
    row; steps (V): iterations of the row.
    """
    K = other.shape[1]
    room = 0
    for i in range(low, high):
        room = max(room, indptr[i + 1] - indptr[i])
    room = min(room, nearby)
    gathered, in_turn = np.empty((room, K), other.dtype), np.arange(room).astype(indices.dtype)
    b, r, scale = np.empty(K, other.dtype), np.empty(K, other.dtype), np.ones(K, other.dtype)
    for i in range(low, high):
        begin, end = indptr[i], indptr[i + 1]
        columns, confidences = indices[begin:end], weights[begin:end]
        near = end - begin <= room
        _pull(other, columns, confidences, targets[begin:end], near, gathered, b)
        rows, places = (gathered, in_turn[: end - begin]) if near else (other, columns)
        steps[i] = conjugate_gradients(rows, places, confidences, scale, b, x[i], r, tol, most)
        gain = 0.0
        for k in range(K):
            gain += x[i, k] * (b[k] + r[k])
        gains[i] = gain


@summing_kernel
def _pull(
    other: Array, columns: Int32, weights: Array, targets: Array, near: bool,
    gathered: Array, b: Array,
) -> None:  # fmt: skip
    """Set b to Σ c_j g_j o_j; near: set gathered to the o_j (n × K) as well."""
    b[:] = 0.0
    for t in range(len(columns)):
        row, pull = other[columns[t]], weights[t] * targets[t]
        for k in range(len(b)):
            b[k] += row[k] * pull
        if near:
            for k in range(len(b)):
                gathered[t, k] = row[k]


@summing_kernel
def conjugate_gradients(
    rows: Array, places: Int32, weights: Array, scale: Array, b: Array, x: Array, r: Array,
    tol: float, most: int,
) -> int:  # fmt: skip
    """Solve (I + Σ c_j o_j o_jᵀ) x = b from x; set r to the residual and return the steps.

    The o_j are scale ∘ rows[places].
    """
    K = len(b)
    p, q, scaled = np.empty(K, b.dtype), np.empty(K, b.dtype), np.empty(K, b.dtype)
    _times(rows, places, weights, scale, x, q, scaled)
    zero = np.zeros(1, b.dtype)[0]
    rr = bb = ahead = zero
    for k in range(K):
        r[k] = b[k] - q[k]
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
        _times(rows, places, weights, scale, p, q, scaled)
        pq = zero
        for k in range(K):
            pq += p[k] * q[k]
        along, before = rr / pq, rr
        rr = zero
        for k in range(K):
            x[k] += along * p[k]
            r[k] -= along * q[k]
            rr += r[k] * r[k]
        turn = rr / before
        for k in range(K):
            p[k] = r[k] + turn * p[k]
        step += 1
    return step


@summing_kernel
def _times(
    rows: Array, places: Int32, weights: Array, scale: Array, p: Array, q: Array, scaled: Array
) -> None:  # fmt: skip
    """Set q to (I + Σ c_j o_j o_jᵀ) p, where the o_j are scale ∘ rows[places]; scaled (K): room."""
    K, n = len(p), len(places)
    zero = np.zeros(1, p.dtype)[0]
    for k in range(K):
        scaled[k] = scale[k] * p[k]
        q[k] = zero
    t = 0
    while t + 4 <= n:  # read p and q once for four rows
        y0, y1 = rows[places[t]], rows[places[t + 1]]
        y2, y3 = rows[places[t + 2]], rows[places[t + 3]]
        s0 = s1 = s2 = s3 = zero
        for k in range(K):
            v = scaled[k]
            s0 += y0[k] * v
            s1 += y1[k] * v
            s2 += y2[k] * v
            s3 += y3[k] * v
        s0 *= weights[t]
        s1 *= weights[t + 1]
        s2 *= weights[t + 2]
        s3 *= weights[t + 3]
        for k in range(K):
            q[k] += s0 * y0[k] + s1 * y1[k] + s2 * y2[k] + s3 * y3[k]
        t += 4
    while t < n:
        y = rows[places[t]]
        s = zero
        for k in range(K):
            s += y[k] * scaled[k]
        s *= weights[t]
        for k in range(K):
            q[k] += s * y[k]
        t += 1
    for k in range(K):
        q[k] = p[k] + scale[k] * q[k]
