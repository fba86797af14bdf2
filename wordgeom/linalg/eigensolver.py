"""The largest eigenvalues of a symmetric operator: block Lanczos, fully reorthogonalised.

The space spanned by X, GX, G²X, … holds good approximations of both ends of G's spectrum; Ritz
pairs of it are taken in algebraic order, so that large negative eigenvalues do no harm. A block
of 32 columns costs a product of G little more than one column does, and half as many products
again as single vectors: measured, the best trade. When the basis is full it is cut to its best
Ritz vectors and goes on (thick restart: Wu and Simon 2000; block form: Zhou and Saad 2008):
with 3 columns for each eigenpair that takes hardly more products than a basis without end.

Not for all eigenvalues of a matrix, nor for the smallest: small matrices are simply made dense.
Of an eigenvalue that occurs more than 32 times no more copies than 32 need be found.
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
# A look at the Ritz values takes (4/3) m³: the next one waits for 2 blocks at least, and for 3
# columns for each pair that has not converged (6 and more are needed).
_LEAST_BLOCKS, _COLUMNS_A_PAIR = 2, 3
_BASIS, _SPARE = 3, 4 * BLOCK  # columns of the basis: for each eigenpair, and beside
_KEPT = 2 * BLOCK  # Ritz vectors that a restart keeps beside the wanted ones
_FLOOR = 10.0  # times the rounding of λ₁: no smaller residual can be counted on
_SINGLE = 1e-4  # the least tolerance that float32 serves well: λ₁ may be hundreds of λ_K


@dataclass(frozen=True)
class EigenSettings:
    """What is asked of the solver.

    pairs: how many; tol: ‖Gu − λu‖ ≤ tol |λ| for each (or the rounding of λ₁, if that is more);
    basis: columns held at most, 0 for 3 a pair and four blocks; restarts: how often the basis
    may be cut; seed: of the first block.
    """

    pairs: int
    tol: float = 1e-3
    basis: int = 0
    restarts: int = 10
    seed: int = 1

    def columns(self, size: int) -> int:
        """Return the columns of the basis for an operator of `size` rows."""
        most = self.basis or _BASIS * self.pairs + _SPARE
        least = self.pairs + _KEPT + 2 * BLOCK  # what a restart keeps, and room to go on
        return min(max(most, least), size - BLOCK)

    def dense(self, size: int) -> bool:
        """Tell whether an operator of `size` rows is better made dense."""
        return size <= max(_DENSE, self.pairs + _KEPT + 4 * BLOCK)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the basis."""
        return np.dtype(np.float32 if self.tol >= _SINGLE else np.float64)

    def dtype_of(self, size: int) -> np.dtype[Any]:
        """The type of the vectors of an operator of `size` rows."""
        return np.dtype(np.float64) if self.dense(size) else self.dtype

    def bytes(self, size: int) -> int:
        """Return the memory that the solver takes for an operator of `size` rows."""
        if self.dense(size):
            return 7 * 8 * size * size
        tall = self.columns(size) + self.pairs + 5 * BLOCK
        return size * tall * self.dtype.itemsize + 4 * 8 * self.columns(size) ** 2


@dataclass(frozen=True)
class Eigenpairs:
    """The largest eigenvalues found, and how well.

    values (k) descending; vectors (V × k); residuals (k) ‖Gu − λu‖ as measured, with converged
    (k) telling which keep the tolerance; products: columns that G was multiplied with.
    """

    values: Float64
    vectors: Array
    residuals: Float64
    converged: Array
    products: int
    restarts: int


@dataclass(frozen=True)
class RitzPairs:
    """The largest eigenvalues found, not measured yet: values (k) descending; vectors (V × k)."""

    values: Float64
    vectors: Tall
    products: int
    restarts: int


@dataclass(frozen=True)
class Convergence:
    """Ritz pairs of the basis as it stands: how many have converged, as estimated."""

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

    follow: is given the looks at the Ritz values as they come, and yields them again; checkpoint:
    keeps the state at every look, from which a later call goes on to the same bytes.
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
    """Return what `largest_eigenpairs` does before it measures the residuals."""
    size = operator.shape[0]
    if wanted.dense(size):
        return _dense(operator, wanted, ops)
    # Throughout: to be given threads back and lose them again between any two blocks cost BLAS, and
    # whoever shares the processor, half as much time again.
    with one_thread():
        krylov = Krylov.start(operator, ops, wanted.columns(size), wanted.dtype, wanted.seed)
        for _ in (follow or iter)(_iterations(krylov, wanted, checkpoint)):
            pass
        values, vectors = krylov.ritz_vectors(wanted.pairs)
    return RitzPairs(values, vectors, krylov.products, krylov.restarts)


def residual_norms(image: Tall, found: RitzPairs, ops: Ops) -> Float64:
    """Return (k) ‖Gu − λu‖ by GU (V × k), not as estimated; GU is written over."""
    ops.subtract(image, found.vectors, np.diag(found.values))
    return np.asarray(np.sqrt(np.maximum(np.diag(ops.inner(image, image)), 0.0)))


def within_tolerance(values: Float64, residuals: Float64, wanted: EigenSettings) -> Array:
    """(k) Tell which pairs keep the tolerance, each relative to its own eigenvalue."""
    rounding = _FLOOR * np.finfo(wanted.dtype).eps * np.abs(values).max(initial=0.0)
    return np.asarray(residuals <= np.maximum(wanted.tol * np.abs(values), rounding))


def _iterations(
    krylov: Krylov, wanted: EigenSettings, checkpoint: Checkpoint | None
) -> Iterator[Convergence]:
    """Grow the basis until the pairs have converged or may be restarted no more."""
    best, left = 0, wanted.pairs
    state = checkpoint.restore() if checkpoint is not None else None
    if state is not None:
        krylov.restore(state)
        best, left = state["looks"].tolist()
    while True:
        target = krylov.filled + max(_LEAST_BLOCKS * BLOCK, _COLUMNS_A_PAIR * left)
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
    """Return the space and when it is to be looked at again."""
    return {**krylov.state(), "looks": np.array([best, left])}


def _dense(operator: Operator, wanted: EigenSettings, ops: Ops) -> RitzPairs:
    size = operator.shape[0]
    eye, dense = np.eye(size), np.empty((size, size))
    for start in range(0, size, 4 * BLOCK):  # what lies between two factors of it may be far taller
        some = slice(start, start + 4 * BLOCK)
        dense[:, some] = ops.to_numpy(operator.multiply(ops.tall(eye[:, some], np.float64)))
    values, vectors = ops.eigh_top((dense + dense.T) / 2, min(wanted.pairs, size))
    return RitzPairs(values, ops.tall(vectors, np.float64), size, 0)
