"""The eigenpairs of Z that are largest in magnitude, followed from one update to the next.

One step of a block method: with Q the last eigenvectors, the Rayleigh–Ritz procedure in the span of
Q and of the residuals Z Q − Q (Qᵀ Z Q), which takes two products. Because the span contains Q, the
new L is at least as close to Z as the old one, and the alternation is monotone.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Float64
from wordgeom.linalg.gram import orthonormal, symmetric_eigh
from wordgeom.methods.tsm.factors import Factors

_ROUNDING = 1e-6  # of the largest |λ|: smaller residuals are rounding


def refine(
    basis: Tall, image: Tall, multiply: Callable[[Tall], Tall], d: int, ops: Ops
) -> tuple[Factors, Tall]:
    """Return the d best Ritz pairs of Z and Z times their vectors (n × d).

    basis (n × p), orthonormal to rounding; image: Z times basis; multiply: returns Z times others.
    """
    coupling = ops.inner(basis, image)
    rest = _residual_basis(basis, image, coupling, ops)
    if rest is None:
        return _ritz([basis], [image], d, ops)
    return _ritz([basis, rest], [image, multiply(rest)], d, ops)


def _residual_basis(basis: Tall, image: Tall, coupling: Float64, ops: Ops) -> Tall | None:
    """Return an orthonormal basis of the residuals, None where they are rounding."""
    rest = ops.along(image, 0.0, image)
    ops.subtract(rest, basis, coupling)
    sizes = np.sqrt(np.maximum(np.diag(ops.inner(rest, rest)), 0.0))
    used = np.flatnonzero(sizes > _ROUNDING * np.abs(coupling).max(initial=0.0))
    if not len(used):
        return None
    scale = np.zeros((len(sizes), len(used)))
    scale[used, np.arange(len(used))] = 1.0 / sizes[used]
    rest = ops.combine(rest, scale)
    ops.subtract(rest, basis, ops.inner(basis, rest))
    try:
        rest = orthonormal(rest, ops)
    except RankError:
        return None
    ops.subtract(rest, basis, ops.inner(basis, rest))
    return rest


def _ritz(
    parts: list[Tall], images: list[Tall], d: int, ops: Ops
) -> tuple[Factors, Tall]:  # fmt: skip
    """Return the Ritz pairs of largest magnitude in the span of `parts`, and their images."""
    gram = np.block([[ops.inner(one, other) for other in parts] for one in parts])
    projected = np.block([[ops.inner(one, other) for other in images] for one in parts])
    sizes, axes = symmetric_eigh(gram)
    white = axes / np.sqrt(sizes)
    values, vectors = ops.eigh_top(_symmetric(white.T @ projected @ white), len(gram))
    best = np.sort(np.argsort(-np.abs(values), kind="stable")[:d])
    turn = white @ vectors[:, best]
    return Factors(_combined(parts, turn, ops), values[best]), _combined(images, turn, ops)


def _combined(parts: list[Tall], turn: Float64, ops: Ops) -> Tall:
    """Return the parts, side by side, times `turn`."""
    first = parts[0].shape[1]
    total = ops.combine(parts[0], turn[:first])
    for part in parts[1:]:
        ops.subtract(total, part, -turn[first : first + part.shape[1]])
        first += part.shape[1]
    return total


def _symmetric(matrix: Float64) -> Float64:
    return np.asarray((matrix + matrix.T) / 2.0)
