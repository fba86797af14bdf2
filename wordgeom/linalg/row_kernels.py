"""The hot loop of weighted sweeps: each row's least squares by conjugate gradients.

A row's problem is (I + Σ c_j o_j o_jᵀ) x = Σ c_j g_j o_j, the identity being the background and the
ridge (rows.py). It is never formed: its product with a vector is a pass over the gathered rows
√c_j o_j, which stay in a core's cache, four at a time.
"""

from __future__ import annotations

import math

import numpy as np

from wordgeom._jit import summing_kernel
from wordgeom.types import Array, Int32, Int64


@summing_kernel
def solve_rows(
    indptr: Int64, indices: Int32, targets: Array, weights: Array, other: Array,
    low: int, high: int, tol: float, most: int, x: Array, gains: Array, steps: Int32,
) -> None:  # fmt: skip
    """Solve the rows [low, high) in place in x (V × K), which holds where to start.

    other (m × K); targets, weights (nnz) of the pattern. Ends at a residual of tol ‖b‖, or after
    `most` steps. gains (V): how much less than Σ c_j g_j² the row's objective is; steps (V).
    """
    K = other.shape[1]
    longest = 0
    for i in range(low, high):
        longest = max(longest, indptr[i + 1] - indptr[i])
    gathered = np.empty((longest, K), other.dtype)
    b, r = np.empty(K, other.dtype), np.empty(K, other.dtype)
    p, q = np.empty(K, other.dtype), np.empty(K, other.dtype)
    zero = np.zeros(1, other.dtype)[0]
    for i in range(low, high):
        begin, n = indptr[i], indptr[i + 1] - indptr[i]
        b[:] = 0.0
        for t in range(n):
            row, weight = other[indices[begin + t]], weights[begin + t]
            root, pull = math.sqrt(weight), weight * targets[begin + t]
            for k in range(K):
                gathered[t, k] = row[k] * root
                b[k] += row[k] * pull
        own = x[i]
        _times(gathered, n, own, q)
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
            _times(gathered, n, p, q)
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
