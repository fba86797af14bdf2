"""The matrix Z of an update in Torch, in panels of rows; imported only when requested.

Panels of a stored Z stay on the device as far as they fit, and the others are copied there one at a
time, so that a device smaller than n × n works.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import torch

from wordgeom.core.ops import Ops
from wordgeom.core.types import Array, Csr, Float32, Float64
from wordgeom.methods.tsm.factors import Factors
from wordgeom.methods.tsm.recomputed import Recomputed
from wordgeom.methods.tsm.tiles import Panel, panels_of, stored_size

_SHARE = 0.7  # of the free device memory, for a stored Z
_Made = Callable[[Panel, torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Similar:
    """The entries of S in a panel, on the device: row and column in the panel, and value."""

    rows: torch.Tensor
    columns: torch.Tensor
    values: torch.Tensor


class TorchPanels:
    """The panels of Z, of which each product needs every one in turn."""

    def __init__(self, similar: list[Csr], device: str) -> None:
        self.panels, self.device = panels_of(similar), device

    def similar(self, panel: Panel) -> Similar:
        """Return the entries of S in a panel."""
        rows, columns = panel.similar.entry_rows, panel.similar.indices.astype(np.int64)
        parts = (rows, columns - panel.start, panel.similar.data)
        return Similar(*(torch.from_numpy(part).to(self.device) for part in parts))

    def product(self, right: torch.Tensor, make: Callable[[Panel], torch.Tensor]) -> torch.Tensor:
        """Return Z times `right` (n × p), of panels that `make` returns."""
        out = torch.zeros_like(right)
        for panel in self.panels:
            numbers = make(panel)
            inside = slice(panel.start, panel.stop)
            out[inside] += numbers @ right[panel.start :]
            out[panel.stop :] += numbers[:, panel.stop - panel.start :].T @ right[inside]
        return out

    def updated(self, L: Factors, right: torch.Tensor, make: _Made) -> tuple[torch.Tensor, Float64]:
        """Return Z times `right`, and ‖Z − L‖² and Σ Z (2), for Z of `make` where S is 0.

        make: returns the panel of Z from L and min(0, L) in it.
        """
        sums = torch.zeros(2, dtype=torch.float64, device=self.device)

        def fill(panel: Panel) -> torch.Tensor:
            low, near = low_rank(L, panel), self.similar(panel)
            below = low.clamp(max=0.0)
            numbers = make(panel, low, below.clone())
            numbers[near.rows, near.columns] = near.values
            below[near.rows, near.columns] = near.values
            low -= below
            width = panel.stop - panel.start
            for part, weight in ((slice(0, width), 1.0), (slice(width, None), 2.0)):
                squares = low[:, part].square().sum(dtype=torch.float64)
                total = below[:, part].sum(dtype=torch.float64)
                sums.add_(torch.stack((squares, total)), alpha=weight)
            return numbers

        return self.product(right, fill), sums.cpu().numpy()


def low_rank(L: Factors, panel: Panel) -> torch.Tensor:
    """Return the panel of L."""
    basis = L.basis
    weights = torch.from_numpy(L.weights).to(basis.device, basis.dtype)
    return (basis[panel.start : panel.stop] * weights) @ basis[panel.start :].T


class TorchStored:
    """Z_t and Z_{t−1} on the device, or beside it; without momentum, Z_t alone."""

    def __init__(self, similar: list[Csr], device: str, *, momentum: bool) -> None:
        self._panels = TorchPanels(similar, device)
        copies, room = 2 if momentum else 1, _room(device)
        self._newer, older = [], []
        for panel in self._panels.panels:
            shape = (panel.stop - panel.start, panel.stride)
            room -= 4 * copies * shape[0] * shape[1]
            where = device if room >= 0 else "cpu"
            self._newer.append(torch.zeros(shape, device=where))
            older.append(torch.zeros(shape, device=where) if momentum else self._newer[-1])
        self._older = older
        self._numbers = {panel.start: k for k, panel in enumerate(self._panels.panels)}
        self._updates = 0

    def update(
        self, L: Factors, momentum: float, right: torch.Tensor
    ) -> tuple[torch.Tensor, Float64]:
        """Update Z from L and return Z times `right` (n × p), and ‖Z − L‖² and Σ Z (2)."""
        weight = momentum if self._updates > 1 else 0.0
        device = self._panels.device

        def make(panel: Panel, _: torch.Tensor, below: torch.Tensor) -> torch.Tensor:
            k = self._numbers[panel.start]
            if weight:
                past, now = self._older[k].to(device), self._newer[k].to(device)
                below.add_(now - past, alpha=weight)
            self._older[k].copy_(below)
            return below

        made = self._panels.updated(L, right, make)
        self._older, self._newer = self._newer, self._older
        self._restore_similar()
        self._updates += 1
        return made

    def shift(self, amount: float) -> None:
        """Add a number to the entries of Z where S is 0."""
        for numbers in self._newer:
            numbers += amount
        self._restore_similar()

    def multiply(self, right: torch.Tensor) -> torch.Tensor:
        """Return Z times `right` (n × p)."""
        device = self._panels.device
        return self._panels.product(
            right, lambda panel: self._newer[self._numbers[panel.start]].to(device)
        )

    def state(self) -> Mapping[str, Array]:
        """Return both matrices and the number of updates."""
        state = {"newer": self._flat(self._newer), "updates": np.array([self._updates])}
        if self._older[0] is self._newer[0]:
            return state
        return {**state, "older": self._flat(self._older)}

    def restore(self, state: Mapping[str, Array]) -> None:
        """Continue from a state."""
        self._updates = int(state["updates"][0])
        for name, stored in (("newer", self._newer), ("older", self._older)):
            for panel, numbers in zip(self._panels.panels, stored, strict=True):
                if name in state:
                    part = np.ascontiguousarray(panel.flat(state[name]))
                    numbers.copy_(torch.from_numpy(part).reshape(numbers.shape))

    def _restore_similar(self) -> None:
        for panel, numbers in zip(self._panels.panels, self._newer, strict=True):
            near = self._panels.similar(panel)
            where = numbers.device
            places = (near.rows.to(where), near.columns.to(where))
            numbers[places] = near.values.to(where)

    def _flat(self, stored: list[torch.Tensor]) -> Float32:
        flat = np.empty(stored_size(self._panels.panels), np.float32)
        for panel, numbers in zip(self._panels.panels, stored, strict=True):
            panel.flat(flat)[:] = numbers.cpu().numpy().ravel()
        return flat


class TorchRecomputed(Recomputed):
    """Z computed anew for each product, from S and the factors of L_t and L_{t−1}."""

    def __init__(self, similar: list[Csr], ops: Ops) -> None:
        super().__init__(ops)
        self._panels = TorchPanels(similar, ops.device)

    def product(self, right: torch.Tensor) -> tuple[torch.Tensor, Float64]:
        """Return Z times `right` (n × p), and ‖Z − L‖² and Σ Z (2) without momentum and shift."""
        return self._panels.updated(self.factors[0], right, self._made)

    def _made(self, panel: Panel, low: torch.Tensor, _: torch.Tensor) -> torch.Tensor:
        moved = low + self._momentum * (low - low_rank(self.factors[1], panel))
        return moved.clamp(max=0.0) + self._shift


def _room(device: str) -> int:
    if device != "cuda":
        return 1 << 62
    return int(torch.cuda.mem_get_info()[0] * _SHARE)
