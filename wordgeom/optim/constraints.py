"""Constraints of an embedding X (n × m), with the projections that a descent needs.

Agrawal, Ali and Boyd (2021), chapter 5 and §6.1.2. `onto` projects on the set of embeddings that
meet a constraint, `tangent` projects a gradient on the directions in which it can be kept.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Array, Float64, Int64
from wordgeom.linalg.blas import one_thread

_FLAT = 1e-12  # of a variance relative to the largest, below which a direction is missing


class Constraint(Protocol):
    """What an embedding must meet; flat: steps along projected gradients meet it as they are."""

    flat: bool

    def onto(self, tall: Tall) -> Tall:
        """Return the projection (n × m) of an array, which may be overwritten."""

    def tangent(self, at: Tall, gradient: Tall) -> Tall:
        """Return the projection (n × m) of a gradient at an embedding; overwrites it."""


class Free:
    """No constraint."""

    flat = True

    def onto(self, tall: Tall) -> Tall:
        """Return the array."""
        return tall

    def tangent(self, at: Tall, gradient: Tall) -> Tall:
        """Return the gradient."""
        return gradient


class Centered:
    """1ᵀX = 0 (§2.4.1)."""

    flat = True

    def __init__(self, items: int, ops: Ops) -> None:
        self._ops, self._items = ops, items

    def onto(self, tall: Tall) -> Tall:
        """Subtract the mean of each column."""
        ones = self._ops.empty(self._items, 1, self._ops.to_numpy(tall[:1]).dtype)
        ones[:] = 1.0
        self._ops.subtract(tall, ones, self._ops.inner(ones, tall) / self._items)
        return tall

    def tangent(self, at: Tall, gradient: Tall) -> Tall:
        """Subtract the mean of each column, which is 0 but for rounding."""
        return self.onto(gradient)


class Anchored:
    """Given rows keep given vectors (§2.4.2): rows (a), values (a × m)."""

    flat = False  # a step of 0 turns −0 into 0

    def __init__(self, rows: Int64, values: Array, ops: Ops) -> None:
        self._rows = rows if ops.device == "cpu" else ops.tall(rows[:, None], np.int64)[:, 0]
        self._values = ops.tall(values, values.dtype)

    def onto(self, tall: Tall) -> Tall:
        """Set the rows, bit for bit."""
        tall[self._rows] = self._values
        return tall

    def tangent(self, at: Tall, gradient: Tall) -> Tall:
        """Set the rows of the gradient to 0."""
        gradient[self._rows] = 0.0
        return gradient


class Standardized:
    """1ᵀX = 0 and XᵀX/n = I (§2.4.3); needs m ≤ n − 1."""

    flat = False

    def __init__(self, items: int, ops: Ops) -> None:
        self._centered, self._ops, self._items = Centered(items, ops), ops, items

    def onto(self, tall: Tall) -> Tall:
        """Return √n U Vᵀ, from the centred array U Σ Vᵀ (eq. 6.5).

        Raises RankError if the centred array has a rank below m.
        """
        tall = self._centered.onto(tall)
        # A second pass removes the rounding of the first where variances differ much.
        for _ in range(2):
            tall = self._ops.combine(tall, self._inverse_root(tall))
        return tall

    def tangent(self, at: Tall, gradient: Tall) -> Tall:
        """Subtract X · sym(Xᵀ ∇E)/n from the centred gradient (eq. 5.10)."""
        gradient = self._centered.onto(gradient)
        product = self._ops.inner(at, gradient) / (2.0 * self._items)
        self._ops.subtract(gradient, at, product + product.T)
        return gradient

    def _inverse_root(self, tall: Tall) -> Float64:
        """Return (XᵀX/n)^−½, (m × m)."""
        scatter = self._ops.inner(tall, tall) / self._items
        with one_thread():
            values, vectors = np.linalg.eigh(0.5 * (scatter + scatter.T))
            if not values[0] > _FLAT * max(values[-1], 0.0):
                missing = int(np.count_nonzero(~(values > _FLAT * max(values[-1], 0.0))))
                what = f"the embedding lies in {len(values) - missing} of {len(values)} dimensions"
                raise RankError(what, do="lower --dim, or start from other vectors")
            root: Float64 = (vectors / np.sqrt(values)) @ vectors.T
        return root
