"""Products with some rows of a matrix, and their weighted sums.

Four rows are read at a time, so that the vector they meet is loaded and stored a fourth as often.
A copy of the rows side by side costs more time than it saves.
"""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Array, Int32
from wordgeom.runtime.jit import summing_kernel

CHUNK = 32  # rows that a core's first cache holds, between their products and their sum


@summing_kernel
def multiply_some(rows: Array, places: Int32, x: Array, out: Array) -> None:
    """Set out (n) to the products of the n rows at `places` with x (K)."""
    zero = np.zeros(1, x.dtype)[0]
    t = 0
    while t + 4 <= len(places):
        y0, y1 = rows[places[t]], rows[places[t + 1]]
        y2, y3 = rows[places[t + 2]], rows[places[t + 3]]
        s0 = s1 = s2 = s3 = zero
        for k in range(len(x)):
            v = x[k]
            s0 += y0[k] * v
            s1 += y1[k] * v
            s2 += y2[k] * v
            s3 += y3[k] * v
        out[t], out[t + 1], out[t + 2], out[t + 3] = s0, s1, s2, s3
        t += 4
    while t < len(places):
        y, s = rows[places[t]], zero
        for k in range(len(x)):
            s += y[k] * x[k]
        out[t] = s
        t += 1


@summing_kernel
def add_some(rows: Array, places: Int32, weights: Array, total: Array) -> None:
    """Add the n rows at `places`, times their weights (n), to total (K)."""
    t = 0
    while t + 4 <= len(places):
        y0, y1 = rows[places[t]], rows[places[t + 1]]
        y2, y3 = rows[places[t + 2]], rows[places[t + 3]]
        w0, w1, w2, w3 = weights[t], weights[t + 1], weights[t + 2], weights[t + 3]
        for k in range(len(total)):
            total[k] += w0 * y0[k] + w1 * y1[k] + w2 * y2[k] + w3 * y3[k]
        t += 4
    while t < len(places):
        y, w = rows[places[t]], weights[t]
        for k in range(len(total)):
            total[k] += w * y[k]
        t += 1


@summing_kernel
def add_some_twice(
    rows: Array, places: Int32, weights: Array, total: Array, others: Array, other_total: Array
) -> None:
    """Add the rows times `weights` to `total`, and times `others` to `other_total`."""
    t = 0
    while t + 4 <= len(places):
        y0, y1 = rows[places[t]], rows[places[t + 1]]
        y2, y3 = rows[places[t + 2]], rows[places[t + 3]]
        w0, w1, w2, w3 = weights[t], weights[t + 1], weights[t + 2], weights[t + 3]
        o0, o1, o2, o3 = others[t], others[t + 1], others[t + 2], others[t + 3]
        for k in range(len(total)):
            total[k] += w0 * y0[k] + w1 * y1[k] + w2 * y2[k] + w3 * y3[k]
            other_total[k] += o0 * y0[k] + o1 * y1[k] + o2 * y2[k] + o3 * y3[k]
        t += 4
    while t < len(places):
        y, w, o = rows[places[t]], weights[t], others[t]
        for k in range(len(total)):
            total[k] += w * y[k]
            other_total[k] += o * y[k]
        t += 1
