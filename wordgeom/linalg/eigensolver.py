"""The largest eigenvalues of a symmetric operator, by block Lanczos with full reorthogonalisation.

The span of X, GX, G²X, … approximates both ends of the spectrum of G. Ritz pairs are taken in
algebraic order, so that large negative eigenvalues do no harm. Multiplying G by a block of 32
columns costs little more than by one column, and a block method needs half as many columns again
as single vectors: measured, the best trade. A full basis is reduced to its best Ritz vectors
(thick restart: Wu and Simon 2000; block form: Zhou and Saad 2008). With 3 columns per eigenpair,
that takes hardly more products than an unlimited basis.

Such a space holds at most 32 vectors of an eigenvalue. Where more pairs are requested, a fresh
random block probes the orthogonal complement of the vectors found, and the search goes on if larger
Ritz values are there, until a probe finds none: probe.py.

Not for all eigenvalues of a matrix, nor for the smallest; small matrices are made dense.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from wordgeom.core.ops import Operator, Ops, Tall
from wordgeom.core.types import Array, Checkpoint, Float64
from wordgeom.linalg.blas import one_thread
from wordgeom.linalg.krylov import BLOCK, Krylov
from wordgeom.linalg.probe import Probes

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
    maximum number of restarts, and again after each probe that finds vectors; seed: of the blocks.
    """

    pairs: int
    tol: float = 1e-3
    basis: int = 0
    restarts: int = 10
    seed: int = 1

    def columns(self, size: int) -> int:
        """Return the columns of the basis for an operator of `size` rows."""
        columns = self.basis or _BASIS * self.pairs + _SPARE
        return min(max(columns, self._least), size - BLOCK)

    def dense(self, size: int) -> bool:
        """Return whether an operator of `size` rows is made dense."""
        return size <= max(_DENSE, self._least + 2 * BLOCK)

    @property
    def _least(self) -> int:
        """The vectors that a restart keeps, blocks parked by probes, and two blocks."""
        parked = (self.pairs - 1) // BLOCK * BLOCK
        return self.pairs + _KEPT + parked + 2 * BLOCK

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
    whether they are within the tolerance; products: columns multiplied by G; probes: of those, the
    search for vectors that were missed.
    """

    values: Float64
    vectors: Array
    residuals: Float64
    converged: Array
    products: int
    restarts: int
    probes: Probes


@dataclass(frozen=True)
class RitzPairs:
    """The largest eigenpairs, before their residuals are measured.

    values (k) descending; vectors (V × k) on the device.
    """

    values: Float64
    vectors: Tall
    products: int
    restarts: int
    probes: Probes


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
    return Eigenpairs(
        found.values, vectors, residuals, converged, products, found.restarts, found.probes
    )


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
        search = _Search(krylov, wanted)
        for _ in (follow or iter)(search.iterations(checkpoint)):
            pass
        values, vectors = search.result()
    return RitzPairs(values, vectors, krylov.products, krylov.restarts, search.probes)


def residual_norms(image: Tall, found: RitzPairs, ops: Ops) -> Float64:
    """Return ‖Gu − λu‖ (k), computed from GU (V × k), which is overwritten."""
    ops.subtract(image, found.vectors, np.diag(found.values))
    return np.asarray(np.sqrt(np.maximum(np.diag(ops.inner(image, image)), 0.0)))


def within_tolerance(values: Float64, residuals: Float64, wanted: EigenSettings) -> Array:
    """Return whether each pair (k) is within the tolerance, relative to its own eigenvalue."""
    return np.asarray(residuals <= _tolerances(values, wanted))


def _tolerances(values: Float64, wanted: EigenSettings) -> Float64:
    """Return the largest residual (k) at which each pair counts as converged."""
    rounding = _FLOOR * np.finfo(wanted.dtype).eps * np.abs(values).max(initial=0.0)
    return np.asarray(np.maximum(wanted.tol * np.abs(values), rounding))


class _Search:
    """The growth of a space until its pairs have converged and a probe finds no others."""

    def __init__(self, krylov: Krylov, wanted: EigenSettings) -> None:
        self._krylov, self._wanted = krylov, wanted
        self._best, self._left = 0, wanted.pairs  # pairs converged at most, and not yet
        self._done = self._confirmed = False  # confirmed: a probe found nothing
        self.probes = Probes()

    def iterations(self, checkpoint: Checkpoint | None) -> Iterator[Convergence]:
        """Grow the space until the pairs are found or the restarts are used up."""
        state = checkpoint.restore() if checkpoint is not None else None
        if state is not None:
            self._krylov.restore(state)
            self._best, self._left = state["looks"].tolist()
            self.probes = Probes.restored(state["probes"])
        while True:
            yield self._probed() if self.probes.running else self._grown()
            if self._done:
                return
            if self._krylov.full and not self.probes.running:
                self._krylov.restart(self._wanted.pairs + _KEPT)
            if checkpoint is not None:
                checkpoint.save(self._state)

    def result(self) -> tuple[Float64, Tall]:
        """Return the Ritz values and vectors; those from before a probe that found nothing."""
        if self._confirmed:
            return self._krylov.before_probe(self._wanted.pairs)
        return self._krylov.ritz_vectors(self._wanted.pairs)

    def _grown(self) -> Convergence:
        """Grow the space by a few blocks, and begin a probe if all pairs have converged."""
        space, wanted = self._krylov, self._wanted
        target = space.filled + max(_MIN_BLOCKS * BLOCK, _COLUMNS_PER_PAIR * self._left)
        while not space.full and space.filled < max(target, wanted.pairs):
            space.grow()
        values, residuals = space.ritz_values(wanted.pairs)
        self.probes.bottom = min(self.probes.bottom, space.smallest())
        tolerances = _tolerances(values, wanted)
        missed = np.flatnonzero(residuals > tolerances)
        converged = wanted.pairs - len(missed)
        gained = max(0, converged - self._best)
        self._best, self._left = max(self._best, converged), len(missed)
        most = wanted.restarts * (1 + self.probes.number)
        if len(missed):
            space.turn(missed)
            self._done = space.full and space.restarts >= most
        elif self.probes.needed(wanted.pairs):
            self.probes.begin(space, values, tolerances, wanted.pairs + _KEPT)
        else:  # of each eigenvalue the space holds as many vectors as there are pairs
            self._done = True
        return Convergence(converged, gained)

    def _probed(self) -> Convergence:
        """Extend the probe; go on with its vectors if it found some."""
        found = self.probes.look(self._krylov)
        self._done = self._confirmed = found == 0
        self._left = found or 0
        return Convergence(self._wanted.pairs - self._left, 0)

    def _state(self) -> Mapping[str, Array]:
        """Return the state of the space, of the search and of its probe."""
        looks = np.array([self._best, self._left])
        return {**self._krylov.state(), "looks": looks, "probes": self.probes.state()}


def _dense(operator: Operator, wanted: EigenSettings, ops: Ops) -> RitzPairs:
    size = operator.shape[0]
    eye, dense = np.eye(size), np.empty((size, size))
    for start in range(0, size, 4 * BLOCK):  # in blocks: a factor of the operator may be far taller
        part = slice(start, start + 4 * BLOCK)
        dense[:, part] = ops.to_numpy(operator.multiply(ops.tall(eye[:, part], np.float64)))
    values, vectors = ops.eigh_top((dense + dense.T) / 2, min(wanted.pairs, size))
    return RitzPairs(values, ops.tall(vectors, np.float64), size, 0, Probes())
