"""Kernels of the M-matrix solver: eight right sides at once, one cache line per row."""

from __future__ import annotations

import numpy as np

from wordgeom.core.types import Float64, Int32, Int64
from wordgeom.runtime.jit import kernel

WIDTH = 8  # columns of a group of right sides
_PIVOT = 1e-14  # smaller pivots are rounding: the matrix is singular


@kernel
def factorise(indptr: Int64, diagonal: Int64, indices: Int32, factors: Float64) -> None:
    """Replace the entries of a matrix by those of its ILU(0) factors, in place.

    diagonal (q): the index of each row's diagonal entry, which receives the inverse of its pivot.
    """
    place = np.full(len(diagonal), -1)
    for r in range(len(diagonal)):
        for k in range(indptr[r], indptr[r + 1]):
            place[indices[k]] = k
        for k in range(indptr[r], diagonal[r]):
            above = indices[k]
            factors[k] *= factors[diagonal[above]]
            for e in range(diagonal[above] + 1, indptr[above + 1]):
                if place[indices[e]] >= 0:
                    factors[place[indices[e]]] -= factors[k] * factors[e]
        pivot = factors[diagonal[r]]
        factors[diagonal[r]] = 1.0 / pivot if pivot > _PIVOT else 1.0
        for k in range(indptr[r], indptr[r + 1]):
            place[indices[k]] = -1


@kernel
def precondition(
    indptr: Int64,
    diagonal: Int64,
    indices: Int32,
    factors: Float64,
    right: Float64,
    out: Float64,
) -> None:
    """Solve L U out = right for out (q × WIDTH), with the incomplete factors."""
    line = np.empty(WIDTH)
    for r in range(len(right)):
        for c in range(WIDTH):
            line[c] = right[r, c]
        for k in range(indptr[r], diagonal[r]):
            factor, other = factors[k], indices[k]
            for c in range(WIDTH):
                line[c] -= factor * out[other, c]
        for c in range(WIDTH):
            out[r, c] = line[c]
    for r in range(len(right) - 1, -1, -1):
        for c in range(WIDTH):
            line[c] = out[r, c]
        for k in range(diagonal[r] + 1, indptr[r + 1]):
            factor, other = factors[k], indices[k]
            for c in range(WIDTH):
                line[c] -= factor * out[other, c]
        factor = factors[diagonal[r]]
        for c in range(WIDTH):
            out[r, c] = factor * line[c]


@kernel
def multiply(
    indptr: Int64,
    indices: Int32,
    data: Float64,
    right: Float64,
    other: Float64,
    out: Float64,
    sums: Float64,
) -> None:
    """Set out (q × WIDTH) to matrix × right, sums (2 × WIDTH) to other · out and out · out."""
    line, first, second = np.empty(WIDTH), np.zeros(WIDTH), np.zeros(WIDTH)
    for r in range(len(out)):
        for c in range(WIDTH):
            line[c] = 0.0
        for k in range(indptr[r], indptr[r + 1]):
            value, column = data[k], indices[k]
            for c in range(WIDTH):
                line[c] += value * right[column, c]
        for c in range(WIDTH):
            out[r, c] = line[c]
            first[c] += other[r, c] * line[c]
            second[c] += line[c] * line[c]
    for c in range(WIDTH):
        sums[0, c] = first[c]
        sums[1, c] = second[c]


@kernel
def turn(
    rest: Float64, product: Float64, beta: Float64, omega: Float64, direction: Float64
) -> None:
    """Set direction (q × WIDTH) to rest + beta (direction − omega product)."""
    for r in range(len(rest)):
        for c in range(WIDTH):
            direction[r, c] = rest[r, c] + beta[c] * (direction[r, c] - omega[c] * product[r, c])


@kernel
def move(
    step: Float64,
    direction: Float64,
    product: Float64,
    found: Float64,
    rest: Float64,
    shadow: Float64,
    sums: Float64,
) -> None:
    """Add step × direction to found, subtract step × product from rest, all (q × WIDTH).

    sums (2 × WIDTH) receives shadow · rest and rest · rest.
    """
    first, second = np.zeros(WIDTH), np.zeros(WIDTH)
    for r in range(len(rest)):
        for c in range(WIDTH):
            found[r, c] += step[c] * direction[r, c]
            left = rest[r, c] - step[c] * product[r, c]
            rest[r, c] = left
            first[c] += shadow[r, c] * left
            second[c] += left * left
    for c in range(WIDTH):
        sums[0, c] = first[c]
        sums[1, c] = second[c]
