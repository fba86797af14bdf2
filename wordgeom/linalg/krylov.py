"""A block Krylov space of a symmetric operator, with an orthonormal basis and its Ritz pairs.

After m columns, G Q = Q T + P C, where Q (V × m) is orthonormal, T (m × m) symmetric, P holds
directions that were not multiplied, and C their coupling to Q. A Ritz pair (θ, Qs) has the residual
‖C s‖. At first P is one block of b columns: the next. Such a space holds at most b vectors of an
eigenvalue. Each fresh random block starts another chain, and allows b more. The blocks of other
chains are parked, and `turn` exchanges one of them for the next.

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
    """A growing space: the basis (V × columns + b), T, and the state to resume from.

    Columns: parked blocks, those multiplied by G (the last may be a probe), the next block.
    """

    def __init__(
        self, operator: Operator, ops: Ops, columns: int, dtype: DTypeLike, seed: int
    ) -> None:
        self._operator, self._ops, self._seed = operator, ops, seed
        self._room, self._dtype = columns, np.dtype(dtype)
        self._basis = ops.empty(operator.shape[0], columns + BLOCK, dtype)
        self._T = np.zeros((columns + BLOCK, columns + BLOCK))
        self._local = 0  # first column that the next product is coupled to in exact arithmetic
        self._draws = 0
        self._solved: tuple[Float64, Float64] | None = None  # Ritz pairs of the present T
        self._parked = 0  # columns of parked blocks
        self._probe = 0  # first column of the probe
        self.filled = 0  # columns before the next block
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

    @property
    def rows(self) -> int:
        """V."""
        return self._operator.shape[0]

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
        self.products += BLOCK
        self.filled, self._local, self._solved = m + BLOCK, m, None

    def ritz_values(self, k: int) -> tuple[Float64, Float64]:
        """Return the k largest Ritz values, descending, and estimates of their residuals."""
        values, S = self._ritz(k)
        return values, np.asarray(np.linalg.norm(self._couplings() @ S, axis=0))

    def smallest(self) -> float:
        """Return the smallest Ritz value."""
        return float(self._ritz(self.filled)[0][-1])

    def ritz_vectors(self, k: int) -> tuple[Float64, Tall]:
        """Return the k largest Ritz values, descending, and their vectors (V × k)."""
        values, S = self._ritz(k)
        return values, self._ops.combine(self._basis[:, self._parked : self.filled], S)

    def restart(self, kept: int) -> None:
        """Reduce the basis to its `kept` ≤ filled − b best Ritz vectors.

        Blocks that were not multiplied stay.
        """
        values, S = self._ritz(kept)
        self._reduce(self._parked, values, S)
        self.restarts += 1

    def turn(self, pairs: Array) -> None:
        """Make that block the next one which holds most of the residuals of `pairs` (indices)."""
        if not self._parked:
            return
        rest = self._couplings() @ self._ritz(int(pairs.max()) + 1)[1][:, pairs]
        sizes = np.square(rest).reshape(-1, BLOCK * len(pairs)).sum(axis=1)
        start, m = int(sizes.argmax()) * BLOCK, self.filled
        if start == self._parked:  # the next block already
            return
        one, other = slice(start, start + BLOCK), slice(m, m + BLOCK)
        self._basis[:, one], self._basis[:, other] = (
            self._copy(self._basis[:, other]), self._copy(self._basis[:, one])
        )  # fmt: skip
        order = np.arange(len(self._T))
        order[one], order[other] = order[other].copy(), order[one].copy()
        self._T[:] = self._T[np.ix_(order, order)]
        self._local, self._solved = 0, None

    def start_probe(self, kept: int) -> None:
        """Reduce the basis as `restart` does, park the next block, and draw a random one.

        A next block that is not coupled to the vectors, because the space is exhausted, is dropped:
        it may hold just those vectors that the probe is to find.
        """
        kept = min(kept, self.filled - self._parked - BLOCK)
        values, S = self._ritz(kept)
        couplings, a, m = self._couplings() @ S, self._parked, self.filled
        best = self._ops.combine(self._basis[:, a:m], S)
        rounding = self.rows * np.finfo(self._dtype).eps * np.abs(values).max()
        if np.abs(couplings[a:]).max() > rounding:
            self._basis[:, a : a + BLOCK] = self._basis[:, m : m + BLOCK]
            self._parked = a + BLOCK
        end = self._parked + kept
        self._basis[:, self._parked : end] = best
        drawn = self._ops.tall(self._draw(BLOCK), self._dtype)
        fresh, _, _ = self._orthonormal(drawn, self._basis[:, :end], 1.0)
        self._basis[:, end : end + BLOCK] = fresh
        self._T[:] = 0.0
        self._T[self._parked : end, self._parked : end] = np.diag(values)
        self._couple(slice(0, self._parked), slice(self._parked, end), couplings[: self._parked])
        self.filled, self._probe, self._local, self._solved = end, end, 0, None

    def probe_values(self) -> Float64:
        """Return all Ritz values of the probe alone, descending."""
        return self._probe_ritz()[0]

    def restart_probe(self) -> None:
        """Reduce the probe to a block of its best Ritz vectors and the next block."""
        values, S = self._probe_ritz()
        self._reduce(self._probe, values[:BLOCK], S[:, :BLOCK])

    def before_probe(self, k: int) -> tuple[Float64, Tall]:
        """Return the k ≤ kept largest Ritz values at `start_probe` and their vectors (V × k)."""
        part = slice(self._parked, self._parked + k)
        return np.diag(self._T)[part].copy(), self._copy(self._basis[:, part])

    def state(self) -> Mapping[str, Array]:
        """Return the state for `restore`, which is valid until the space grows."""
        used = self.filled + BLOCK
        numbers = (self.filled, self._parked, self._probe, self._local, self._draws,
                   self.products, self.restarts)  # fmt: skip
        return {
            "basis": self._ops.to_numpy(self._basis)[:, :used],  # on the CPU a view
            "projected": self._T[:used, :used],
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
        (self.filled, self._parked, self._probe, self._local, self._draws,
         self.products, self.restarts) = state["numbers"].tolist()  # fmt: skip
        self._solved = None

    def _ritz(self, k: int) -> tuple[Float64, Float64]:
        """Return the k largest Ritz values and their coordinates in the basis, cached for T."""
        if self._solved is None:
            a, m = self._parked, self.filled
            self._solved = self._ops.eigh_top(self._T[a:m, a:m], m - a)
        values, S = self._solved
        return values[:k], S[:, :k]

    def _probe_ritz(self) -> tuple[Float64, Float64]:
        """Return the Ritz values of the probe alone and their coordinates in it."""
        part = slice(self._probe, self.filled)
        return self._ops.eigh_top(self._T[part, part], self.filled - self._probe)

    def _couplings(self) -> Float64:
        """Return the couplings of the parked blocks and the next one to the multiplied columns."""
        a, m = self._parked, self.filled
        return np.concatenate((self._T[:a, a:m], self._T[m : m + BLOCK, a:m]))

    def _reduce(self, first: int, values: Float64, S: Float64) -> None:
        """Replace the columns from `first` to the next block by their combinations S."""
        m, end = self.filled, first + len(values)
        others = np.r_[:first, m : m + BLOCK]
        couplings, among = self._T[others, first:m] @ S, self._T[np.ix_(others, others)]
        best = self._ops.combine(self._basis[:, first:m], S)
        self._basis[:, first:end] = best
        self._basis[:, end : end + BLOCK] = self._basis[:, m : m + BLOCK]
        others = np.r_[:first, end : end + BLOCK]
        self._T[:] = 0.0
        self._T[np.ix_(others, others)] = among
        self._T[first:end, first:end] = np.diag(values)
        self._T[others, first:end] = couplings
        self._T[first:end, others] = couplings.T
        self.filled, self._local, self._solved = end, 0, None

    def _copy(self, tall: Tall) -> Tall:
        """Return a copy of columns (V × k)."""
        copy = self._ops.empty(tall.shape[0], tall.shape[1], self._dtype)
        copy[:] = tall
        return copy

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
        return rng.standard_normal((self.rows, columns), np.float32) / np.sqrt(self.rows)  # type: ignore[no-any-return]
