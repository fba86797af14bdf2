"""The matrix Z of an update (eq. 5, 22, 23), stored: Z_t and Z_{t−1} take n² numbers together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

import numpy as np

from wordgeom.core.ops import Tall
from wordgeom.core.types import Array, Csr, Float32, Float64
from wordgeom.methods.tsm import kernels
from wordgeom.methods.tsm.factors import Factors, weighted_basis
from wordgeom.methods.tsm.tiles import Panel, Tiles, panels_of, stored_size
from wordgeom.runtime.pool import Pool


class Target(Protocol):
    """Z, as the alternation uses it."""

    def update(self, L: Factors, momentum: float, right: Tall) -> tuple[Tall, Float64]:
        """Update Z from L and return Z times `right` (n × p), and two sums over the new Z.

        The sums, before momentum: ‖Z − L‖² and Σ Z.
        """

    def shift(self, amount: float) -> None:
        """Add a number to the entries of Z where S is 0."""

    def multiply(self, right: Tall) -> Tall:
        """Return Z times `right` (n × p)."""

    def state(self) -> Mapping[str, Array]:
        """Return the arrays that `restore` needs."""

    def restore(self, state: Mapping[str, Array]) -> None:
        """Continue from a state."""


class StoredTarget:
    """Z_t and Z_{t−1} in memory; without momentum, Z_t alone."""

    def __init__(self, similar: list[Csr], pool: Pool, *, momentum: bool) -> None:
        panels = panels_of(similar)
        self._tiles = Tiles(panels, pool)
        numbers = stored_size(panels)
        self._newer = np.zeros(numbers, np.float32)
        self._older = np.zeros(numbers, np.float32) if momentum else self._newer
        self._updates = 0

    def update(self, L: Factors, momentum: float, right: Float32) -> tuple[Float32, Float64]:
        """Update Z from L and return Z times `right` (n × p), and ‖Z − L‖² and Σ Z (2)."""
        older, newer, weighted = self._older, self._newer, weighted_basis(L)
        weight = momentum if self._updates > 1 else 0.0

        def tiles(panel: Panel, sums: Float64) -> Iterator[tuple[slice, Float32]]:
            past, now = panel.flat(older), panel.flat(newer)
            square = past.reshape(-1, panel.stride)
            cursor = panel.similar.indptr[:-1].copy()
            for columns in panel.tiles():
                first, part = columns.start - panel.start, sums[int(columns.start >= panel.stop)]
                low = weighted[panel.start : panel.stop] @ L.basis[columns].T
                kernels.project_tile(low, past, now, panel.stride, first, weight, 0.0, part)
                place = panel.similar
                kernels.place_similar(
                    place.indptr, place.indices, place.data, cursor, low, columns.start,
                    past, panel.stride, first, part,
                )  # fmt: skip
                yield columns, square[:, first : columns.stop - panel.start]

        made = self._tiles.multiply(right, tiles)
        self._older, self._newer = newer, older
        self._updates += 1
        return made

    def shift(self, amount: float) -> None:
        """Add a number to the entries of Z where S is 0."""

        def run(panel: Panel) -> None:
            numbers, similar = panel.flat(self._newer), panel.similar
            numbers += np.float32(amount)
            kernels.restore_similar(
                similar.indptr, similar.indices, similar.data, panel.start, numbers, panel.stride
            )

        self._tiles.each(run)

    def multiply(self, right: Float32) -> Float32:
        """Return Z times `right` (n × p)."""

        def tiles(panel: Panel, _: Float64) -> Iterator[tuple[slice, Float32]]:
            square = panel.flat(self._newer).reshape(-1, panel.stride)
            for columns in panel.tiles():
                yield columns, square[:, columns.start - panel.start : columns.stop - panel.start]

        return self._tiles.multiply(right, tiles)[0]

    def state(self) -> Mapping[str, Array]:
        """Return both matrices and the number of updates."""
        state = {"newer": self._newer, "updates": np.array([self._updates])}
        return state if self._older is self._newer else {**state, "older": self._older}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Continue from a state."""
        self._newer, self._updates = state["newer"], int(state["updates"][0])
        self._older = state.get("older", self._newer)
