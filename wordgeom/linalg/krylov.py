"""A block Krylov space of a symmetric operator, with an orthonormal basis and its Ritz pairs.

After m columns, G Q = Q T + Q₊ C Eᵀ, where Q (V × m) is orthonormal, T (m × m) symmetric, Q₊
(V × b) the next block and C (b × b) its coupling to the last b columns. A Ritz pair (θ, Qs) has
the residual ‖C s_last‖.

A product is first orthogonalised against the two blocks that it is coupled to in exact arithmetic,
then normalised, then orthogonalised against the full basis: that saves one of two passes over it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike

from wordgeom.core.ops import Operator, Ops, Tall
from wordgeom.core.types import Array, Float64

BLOCK = 32  # columns multiplied at once
_PASSES = 6  # maximum passes over the basis
_KEPT = 0.5  # the last pass leaves at least this share of a column's squared length


class Krylov:
    """A growing space: the basis (V × columns + b), T, and the state to resume from."""

    def __init__(
        self, operator: Operator, ops: Ops, columns: int, dtype: DTypeLike, seed: int
    ) -> None:
        self._operator, self._ops, self._seed = operator, ops, seed
        self._room, self._dtype = columns, np.dtype(dtype)
        self._basis = ops.empty(operator.shape[0], columns + BLOCK, dtype)
        self._T = np.zeros((columns + BLOCK, columns + BLOCK))
        self._coupling = np.zeros((BLOCK, BLOCK))
        self._local = 0  # first column that the next product is coupled to in exact arithmetic
        self._draws = 0
        self._solved: tuple[Float64, Float64] | None = None  # Ritz pairs of the present T
        self.filled = 0  # columns that were multiplied by G
        self.products = 0
        self.restarts = 0

    @classmethod
    def start(cls, operator: Operator, ops: Ops, columns: int, dtype: DTypeLike, seed: int) -> Self:
        """Return a space of one random block, not yet multiplied by G."""
        space = cls(operator, ops, columns, dtype, seed)
        drawn = ops.tall(space._draw(BLOCK), dtype)
        first, _, _ = space._orthonormal(drawn, space._basis[:, :0], 1.0)
        space._basis[:, :BLOCK] = first
        return space

    @property
    def full(self) -> bool:
        """Whether the basis has no space for another block."""
        return self.filled + BLOCK > self._room

    def grow(self) -> None:
        """Multiply the next block by G and add the new directions to the basis."""
        m = self.filled
        new, known = slice(m, m + BLOCK), slice(0, m + BLOCK)
        local = slice(self._local, m + BLOCK)
        product = self._operator.multiply(self._basis[:, new])
        near = self._basis[:, local]
        weights = self._ops.inner(near, product)
        self._ops.subtract(product, near, weights)
        size = max(float(np.abs(weights).max()), float(np.abs(self._T).max()))
        block, far, coupling = self._orthonormal(product, self._basis[:, known], size)
        self._T[known, new] = far
        self._T[local, new] += weights
        self._T[new, known] = self._T[known, new].T
        self._couple(slice(m + BLOCK, m + 2 * BLOCK), new, coupling)
        self._basis[:, m + BLOCK : m + 2 * BLOCK] = block
        self._coupling = coupling
        self.products += BLOCK
        self.filled, self._local, self._solved = m + BLOCK, m, None

    def ritz_values(self, k: int) -> tuple[Float64, Float64]:
        """Return the k largest Ritz values, descending, and estimates of their residuals."""
        values, S = self._ritz(k)
        return values, np.asarray(np.linalg.norm(self._coupling @ S[-BLOCK:], axis=0))

    def ritz_vectors(self, k: int) -> tuple[Float64, Tall]:
        """Return the k largest Ritz values, descending, and their vectors (V × k)."""
        values, S = self._ritz(k)
        return values, self._ops.combine(self._basis[:, : self.filled], S)

    def restart(self, kept: int) -> None:
        """Reduce the basis to its `kept` ≤ filled − b best Ritz vectors and the next block."""
        m = self.filled
        values, S = self._ritz(kept)
        best = self._ops.combine(self._basis[:, :m], S)
        self._basis[:, :kept] = best
        self._basis[:, kept : kept + BLOCK] = self._basis[:, m : m + BLOCK]
        self._T[:] = 0.0
        self._T[:kept, :kept] = np.diag(values)
        self._couple(slice(kept, kept + BLOCK), slice(0, kept), self._coupling @ S[-BLOCK:])
        self.filled, self._local, self._solved = kept, 0, None
        self.restarts += 1

    def state(self) -> Mapping[str, Array]:
        """Return the state for `restore`, which is valid until the space grows."""
        used = self.filled + BLOCK
        numbers = (self.filled, self._local, self._draws, self.products, self.restarts)
        return {
            "basis": self._ops.to_numpy(self._basis)[:, :used],  # on the CPU a view
            "projected": self._T[:used, :used],
            "coupling": self._coupling,
            "numbers": np.array(numbers, np.int64),
        }

    def restore(self, state: Mapping[str, Array]) -> None:
        """Resume from a state of the same operator, settings and seed."""
        used = len(state["projected"])
        for start in range(0, used, BLOCK):  # avoid a second copy of the basis
            block = slice(start, min(start + BLOCK, used))
            self._basis[:, block] = self._ops.tall(state["basis"][:, block], self._dtype)
        self._T[:] = 0.0
        self._T[:used, :used] = state["projected"]
        self._coupling = np.array(state["coupling"])
        numbers = state["numbers"].tolist()
        self.filled, self._local, self._draws, self.products, self.restarts = numbers
        self._solved = None

    def _ritz(self, k: int) -> tuple[Float64, Float64]:
        """Return the k largest Ritz values and their coordinates in the basis, cached for T."""
        if self._solved is None:
            m = self.filled
            self._solved = self._ops.eigh_top(self._T[:m, :m], m)
        values, S = self._solved
        return values[:k], S[:, :k]

    def _couple(self, rows: slice, columns: slice, weights: Float64) -> None:
        self._T[rows, columns] = weights
        self._T[columns, rows] = weights.T

    def _orthonormal(self, block: Tall, basis: Tall, size: float) -> tuple[Tall, Float64, Float64]:
        """Return B, orthonormal and orthogonal to the basis Q, and H and C: block = Q H + B C.

        Directions that are rounding, relative to products of this `size`, are replaced by random
        ones, whose rows of C are 0.
        """
        H, C = np.zeros((basis.shape[1], BLOCK)), np.eye(BLOCK)
        least = (np.finfo(self._dtype).eps * size) ** 2 * basis.shape[0]
        block, C, _ = self._normalised(block, C, least)
        for _ in range(_PASSES):
            weights = self._ops.inner(basis, block)
            self._ops.subtract(block, basis, weights)
            H += weights @ C
            block, C, kept = self._normalised(block, C, 1e-4)
            if kept > _KEPT:
                break
        return block, H, C

    def _normalised(self, block: Tall, C: Float64, least: float) -> tuple[Tall, Float64, float]:
        """Return B, orthonormal, C' with block·C = B·C', and the smallest squared length."""
        gram = self._ops.inner(block, block)
        squares, turn = np.linalg.eigh((gram + gram.T) / 2)
        # A square below the rounding of the largest is unknown. Divided by that rounding, the
        # column comes out too short, and the next call normalises it.
        known = np.maximum(squares, np.finfo(self._dtype).eps * squares.max())
        nonzero = known > least
        scale = np.where(nonzero, np.sqrt(np.maximum(known, least)), 1.0)
        normalised = self._ops.combine(block, turn / scale)
        if not nonzero.all():
            gaps = np.flatnonzero(~nonzero)
            normalised[:, gaps] = self._ops.tall(self._draw(len(gaps)), self._dtype)
        return normalised, (scale * nonzero)[:, None] * (turn.T @ C), float(squares.min())

    def _draw(self, columns: int) -> Array:
        """Return new random columns (V × columns) of length about 1."""
        self._draws += 1
        rng: Any = np.random.default_rng((self._seed, self._draws))
        rows = self._operator.shape[0]
        return rng.standard_normal((rows, columns), np.float32) / np.sqrt(rows)  # type: ignore[no-any-return]
