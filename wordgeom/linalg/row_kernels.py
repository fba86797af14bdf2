"""The hot loop of weighted sweeps: each row's least squares by conjugate gradients.

A row's problem is (I + Σ c_j o_j o_jᵀ) x = Σ c_j g_j o_j, the identity being the background and the
ridge (rows.py). It is never formed: its product with a vector is a pass over the gathered rows
√c_j o_j, which stay in a core's cache, four at a time; rows too long for that are not gathered.
"""

from __future__ import annotations

import math

import numpy as np

from wordgeom._jit import summing_kernel
from wordgeom.types import Array, Int32, Int64


@summing_kernel
def solve_rows(
    indptr: Int64, indices: Int32, targets: Array, weights: Array, other: Array,
    low: int, high: int, tol: float, most: int, nearby: int, x: Array, gains: Array, steps: Int32,
) -> None:  # fmt: skip
    """Solve the rows [low, high) in place in x (V × K), which holds where to start.

    other (m × K); targets, weights (nnz) of the pattern. Ends at a residual of tol ‖b‖, or after
    `most` steps. nearby: rows of other that are gathered at most. gains (V): how much less than
    Σ c_j g_j² the row's objective is; steps (V).
    """
    K = other.shape[1]
    room = 0
    for i in range(low, high):
        room = max(room, indptr[i + 1] - indptr[i])
    room = min(room, nearby)
    gathered = np.empty((room, K), other.dtype)
    b, r = np.empty(K, other.dtype), np.empty(K, other.dtype)
    p, q = np.empty(K, other.dtype), np.empty(K, other.dtype)
    zero = np.zeros(1, other.dtype)[0]
    for i in range(low, high):
        begin, n = indptr[i], indptr[i + 1] - indptr[i]
        own, columns, confidences = x[i], indices[begin : begin + n], weights[begin : begin + n]
        near = n <= room
        b[:] = 0.0
        for t in range(n):
            row, weight = other[columns[t]], confidences[t]
            pull = weight * targets[begin + t]
            for k in range(K):
                b[k] += row[k] * pull
            if near:
                root = math.sqrt(weight)
                for k in range(K):
                    gathered[t, k] = row[k] * root
        if near:
            _times(gathered, n, own, q)
        else:
            _times_afar(other, columns, confidences, own, q)
        rr = bb = ahead = zero
        for k in range(K):
            r[k] = b[k] - q[k]
            p[k] = r[k]
            ahead += own[k] * (b[k] + r[k])
            rr += r[k] * r[k]
            bb += b[k] * b[k]
        if ahead < zero:  # worse than 0: too far away for what rounding leaves of x
            own[:] = zero
            r[:] = b
            p[:] = b
            rr = bb
        step = 0
        while rr > tol * tol * bb and step < most:
            if near:
                _times(gathered, n, p, q)
            else:
                _times_afar(other, columns, confidences, p, q)
            pq = zero
            for k in range(K):
                pq += p[k] * q[k]
            along, before = rr / pq, rr
            rr = zero
            for k in range(K):
                own[k] += along * p[k]
                r[k] -= along * q[k]
                rr += r[k] * r[k]
            turn = rr / before
            for k in range(K):
                p[k] = r[k] + turn * p[k]
            step += 1
        steps[i] = step
        gain = 0.0
        for k in range(K):
            gain += own[k] * (b[k] + r[k])
        gains[i] = gain


@summing_kernel
def _times(gathered: Array, n: int, p: Array, q: Array) -> None:
    """Put (I + YᵀY) p into q, Y being the first n rows gathered (n × K)."""
    K = len(p)
    zero = np.zeros(1, p.dtype)[0]
    for k in range(K):
        q[k] = p[k]
    t = 0
    while t + 4 <= n:  # p and q are read once for four rows
        y0, y1, y2, y3 = gathered[t], gathered[t + 1], gathered[t + 2], gathered[t + 3]
        s0 = s1 = s2 = s3 = zero
        for k in range(K):
            v = p[k]
            s0 += y0[k] * v
            s1 += y1[k] * v
            s2 += y2[k] * v
            s3 += y3[k] * v
        for k in range(K):
            q[k] += s0 * y0[k] + s1 * y1[k] + s2 * y2[k] + s3 * y3[k]
        t += 4
    while t < n:
        y = gathered[t]
        s = zero
        for k in range(K):
            s += y[k] * p[k]
        for k in range(K):
            q[k] += s * y[k]
        t += 1


@summing_kernel
def _times_afar(other: Array, columns: Int32, weights: Array, p: Array, q: Array) -> None:
    """Put (I + Σ c_j o_j o_jᵀ) p into q, the o_j being rows of other (m × K) where they stand."""
    K, n = len(p), len(columns)
    zero = np.zeros(1, p.dtype)[0]
    for k in range(K):
        q[k] = p[k]
    t = 0
    while t + 4 <= n:
        y0, y1 = other[columns[t]], other[columns[t + 1]]
        y2, y3 = other[columns[t + 2]], other[columns[t + 3]]
        s0 = s1 = s2 = s3 = zero
        for k in range(K):
            v = p[k]
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
        y = other[columns[t]]
        s = zero
        for k in range(K):
            s += y[k] * p[k]
        s *= weights[t]
        for k in range(K):
            q[k] += s * y[k]
        t += 1
