"""The largest eigenvalues of a symmetric operator, by block Lanczos with full reorthogonalisation.

The span of X, GX, G²X, … approximates both ends of the spectrum of G. Ritz pairs are taken in
algebraic order, so that large negative eigenvalues do no harm. Multiplying G by a block of 32
columns costs little more than by one column, and a block method needs half as many columns again
as single vectors: measured, the best trade. A full basis is reduced to its best Ritz vectors
(thick restart: Wu and Simon 2000; block form: Zhou and Saad 2008). With 3 columns per eigenpair,
that takes hardly more products than an unlimited basis.

Not for all eigenvalues of a matrix, nor for the smallest; small matrices are made dense. Of an
eigenvalue of multiplicity above 32, as few as 32 copies may be found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from wordgeom.core.ops import Operator, Ops, Tall
from wordgeom.core.types import Array, Checkpoint, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.krylov import BLOCK, Krylov

_DENSE = 1024  # rows of a matrix that is made dense
# Ritz values cost (4/3) m³ flops: they are computed every 2 blocks or more, and every 3 columns per
# pair that has not converged (which needs 6 or more).
_MIN_BLOCKS, _COLUMNS_PER_PAIR = 2, 3
_BASIS, _SPARE = 3, 4 * BLOCK  # columns of the basis: per eigenpair, and in addition
_KEPT = 2 * BLOCK  # Ritz vectors that a restart keeps besides the requested ones
_FLOOR = 10.0  # the smallest attainable residual, in units of the rounding of λ₁
_SINGLE = 1e-4  # the smallest tolerance for float32: λ₁ may be hundreds of λ_K


@dataclass(frozen=True)
class EigenSettings:
    """The settings of the solver.

    pairs: number of eigenpairs; tol: ‖Gu − λu‖ ≤ tol |λ| for each (or the rounding of λ₁, if that
    is larger); basis: maximum columns of the basis, 0 for 3 per pair and four blocks; restarts:
    maximum number of restarts; seed: of the first block.
    """

    pairs: int
    tol: float = 1e-3
    basis: int = 0
    restarts: int = 10
    seed: int = 1

    def columns(self, size: int) -> int:
        """Return the columns of the basis for an operator of `size` rows."""
        columns = self.basis or _BASIS * self.pairs + _SPARE
        least = self.pairs + _KEPT + 2 * BLOCK  # the vectors that a restart keeps, and two blocks
        return min(max(columns, least), size - BLOCK)

    def dense(self, size: int) -> bool:
        """Return whether an operator of `size` rows is made dense."""
        return size <= max(_DENSE, self.pairs + _KEPT + 4 * BLOCK)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the basis."""
        return np.dtype(np.float32 if self.tol >= _SINGLE else np.float64)

    def dtype_of(self, size: int) -> np.dtype[Any]:
        """Return the dtype of the vectors of an operator of `size` rows."""
        return np.dtype(np.float64) if self.dense(size) else self.dtype

    def bytes(self, size: int) -> int:
        """Return the memory of the solver in bytes, for an operator of `size` rows."""
        if self.dense(size):
            return 7 * 8 * size * size
        tall = self.columns(size) + self.pairs + 5 * BLOCK
        return size * tall * self.dtype.itemsize + 4 * 8 * self.columns(size) ** 2


@dataclass(frozen=True)
class Eigenpairs:
    """The largest eigenpairs and their accuracy.

    values (k) descending; vectors (V × k); residuals (k): ‖Gu − λu‖ as measured; converged (k):
    whether they are within the tolerance; products: columns multiplied by G.
    """

    values: Float64
    vectors: Array
    residuals: Float64
    converged: Array
    products: int
    restarts: int


@dataclass(frozen=True)
class RitzPairs:
    """The largest eigenpairs, before their residuals are measured.

    values (k) descending; vectors (V × k) on the device.
    """

    values: Float64
    vectors: Tall
    products: int
    restarts: int


@dataclass(frozen=True)
class Convergence:
    """The number of converged Ritz pairs, as estimated, and its increase since the last time."""

    converged: int
    gained: int


def largest_eigenpairs(
    operator: Operator,
    wanted: EigenSettings,
    ops: Ops,
    *,
    follow: Callable[[Iterator[Convergence]], Iterator[Convergence]] | None = None,
    checkpoint: Checkpoint | None = None,
) -> Eigenpairs:
    """Return the algebraically largest eigenpairs of a symmetric operator (V × V).

    follow: passes an iterator of Convergence through, for progress; checkpoint: saves the state
    with each, from which a later call computes the same bytes.
    """
    found = ritz_pairs(operator, wanted, ops, follow=follow, checkpoint=checkpoint)
    residuals = residual_norms(operator.multiply(found.vectors), found, ops)
    converged = within_tolerance(found.values, residuals, wanted)
    products = found.products + len(found.values)
    vectors = ops.to_numpy(found.vectors)
    return Eigenpairs(found.values, vectors, residuals, converged, products, found.restarts)


def ritz_pairs(
    operator: Operator,
    wanted: EigenSettings,
    ops: Ops,
    *,
    follow: Callable[[Iterator[Convergence]], Iterator[Convergence]] | None = None,
    checkpoint: Checkpoint | None = None,
) -> RitzPairs:
    """Return what `largest_eigenpairs` returns, without measuring the residuals."""
    size = operator.shape[0]
    if wanted.dense(size):
        return _dense(operator, wanted, ops)
    # Once for all blocks: changing the number of BLAS threads between blocks takes half as long
    # again, and disturbs other processes.
    with one_thread():
        krylov = Krylov.start(operator, ops, wanted.columns(size), wanted.dtype, wanted.seed)
        for _ in (follow or iter)(_iterations(krylov, wanted, checkpoint)):
            pass
        values, vectors = krylov.ritz_vectors(wanted.pairs)
    return RitzPairs(values, vectors, krylov.products, krylov.restarts)


def residual_norms(image: Tall, found: RitzPairs, ops: Ops) -> Float64:
    """Return ‖Gu − λu‖ (k), computed from GU (V × k), which is overwritten."""
    ops.subtract(image, found.vectors, np.diag(found.values))
    return np.asarray(np.sqrt(np.maximum(np.diag(ops.inner(image, image)), 0.0)))


def within_tolerance(values: Float64, residuals: Float64, wanted: EigenSettings) -> Array:
    """Return whether each pair (k) is within the tolerance, relative to its own eigenvalue."""
    rounding = _FLOOR * np.finfo(wanted.dtype).eps * np.abs(values).max(initial=0.0)
    return np.asarray(residuals <= np.maximum(wanted.tol * np.abs(values), rounding))


def _iterations(
    krylov: Krylov, wanted: EigenSettings, checkpoint: Checkpoint | None
) -> Iterator[Convergence]:
    """Grow the basis until the pairs have converged or the restarts are used up."""
    best, left = 0, wanted.pairs
    state = checkpoint.restore() if checkpoint is not None else None
    if state is not None:
        krylov.restore(state)
        best, left = state["looks"].tolist()
    while True:
        target = krylov.filled + max(_MIN_BLOCKS * BLOCK, _COLUMNS_PER_PAIR * left)
        while not krylov.full and krylov.filled < max(target, wanted.pairs):
            krylov.grow()
        values, residuals = krylov.ritz_values(wanted.pairs)
        converged = int(np.count_nonzero(within_tolerance(values, residuals, wanted)))
        yield Convergence(converged, max(0, converged - best))
        best, left = max(best, converged), wanted.pairs - converged
        if converged == wanted.pairs or (krylov.full and krylov.restarts == wanted.restarts):
            return
        if krylov.full:
            krylov.restart(wanted.pairs + _KEPT)
        if checkpoint is not None:
            checkpoint.save(partial(_state, krylov, best, left))


def _state(krylov: Krylov, best: int, left: int) -> Mapping[str, Array]:
    """Return the state of the space and of the iteration."""
    return {**krylov.state(), "looks": np.array([best, left])}


def _dense(operator: Operator, wanted: EigenSettings, ops: Ops) -> RitzPairs:
    size = operator.shape[0]
    eye, dense = np.eye(size), np.empty((size, size))
    for start in range(0, size, 4 * BLOCK):  # in blocks: a factor of the operator may be far taller
        part = slice(start, start + 4 * BLOCK)
        dense[:, part] = ops.to_numpy(operator.multiply(ops.tall(eye[:, part], np.float64)))
    values, vectors = ops.eigh_top((dense + dense.T) / 2, min(wanted.pairs, size))
    return RitzPairs(values, ops.tall(vectors, np.float64), size, 0)
