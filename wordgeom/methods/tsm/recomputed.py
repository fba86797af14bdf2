"""The matrix Z of an update, computed anew for each product from S and the factors of L.

Momentum is that of the factors: Z = min(0, L_t + γ (L_t − L_{t−1})) where S is 0, with γ = 0 in an
update after which the objective rose (restarts: O'Donoghue and Candès 2015).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping

import numpy as np

from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Array, Csr, Float32, Float64
from wordgeom.methods.tsm import kernels
from wordgeom.methods.tsm.factors import Factors, weighted_basis
from wordgeom.methods.tsm.tiles import Panel, Tiles, panels_of
from wordgeom.runtime.pool import Pool


class Recomputed(ABC):
    """Z as the alternation uses it (targets.Target); a subclass multiplies on its device."""

    def __init__(self, ops: Ops) -> None:
        self._ops = ops
        self._now: Factors | None = None
        self._past: Factors | None = None
        self._momentum = self._shift = 0.0
        self._objective = np.inf

    @abstractmethod
    def product(self, right: Tall) -> tuple[Tall, Float64]:
        """Return Z times `right` (n × p), and ‖Z − L‖² and Σ Z (2) without momentum and shift."""

    @property
    def factors(self) -> tuple[Factors, Factors]:
        """L_t and L_{t−1}, after an update."""
        assert self._now is not None
        assert self._past is not None
        return self._now, self._past

    def update(self, L: Factors, momentum: float, right: Tall) -> tuple[Tall, Float64]:
        """Update Z from L and return Z times `right` (n × p), and ‖Z − L‖² and Σ Z (2)."""
        self._past, self._now = self._now or L, L
        self._momentum, self._shift = momentum, 0.0
        image, sums = self.product(right)
        if momentum and sums[0] > self._objective:
            self._momentum = 0.0
            image, sums = self.product(right)
        self._objective = float(sums[0])
        return image, sums

    def shift(self, amount: float) -> None:
        """Add a number to the entries of Z where S is 0."""
        self._shift += amount

    def multiply(self, right: Tall) -> Tall:
        """Return Z times `right` (n × p)."""
        return self.product(right)[0]

    def state(self) -> Mapping[str, Array]:
        """Return the factors of L_{t−1}, and their objective."""
        now, _ = self.factors
        basis, objective = self._ops.to_numpy(now.basis), np.array([self._objective])
        return {"basis": basis, "weights": now.weights, "objective": objective}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Continue from a state."""
        self._now = Factors(self._ops.tall(state["basis"], np.float32), state["weights"])
        self._objective = float(state["objective"][0])


class RecomputedTarget(Recomputed):
    """Z in tiles, on the pool."""

    def __init__(self, similar: list[Csr], ops: Ops, pool: Pool) -> None:
        super().__init__(ops)
        self._tiles = Tiles(panels_of(similar), pool)

    def product(self, right: Float32) -> tuple[Float32, Float64]:
        """Return Z times `right` (n × p), and ‖Z − L‖² and Σ Z (2) without momentum and shift."""
        return self._tiles.multiply(right, self._computed)

    def _computed(self, panel: Panel, sums: Float64) -> Iterator[tuple[slice, Float32]]:
        (now, past), similar = self.factors, panel.similar
        cursor, own = similar.indptr[:-1].copy(), slice(panel.start, panel.stop)
        left, before = weighted_basis(now)[own], weighted_basis(past)[own]
        for columns in panel.tiles():
            part = sums[int(columns.start >= panel.stop)]
            low = left @ now.basis[columns].T
            tile = before @ past.basis[columns].T
            kernels.extrapolate_tile(low, tile, self._momentum, self._shift, part)
            kernels.place_similar(
                similar.indptr, similar.indices, similar.data, cursor, low, columns.start,
                tile.reshape(-1), low.shape[1], 0, part,
            )  # fmt: skip
            yield columns, tile
