"""The objective of Khalife, Gonçalves and Liberti (2022), eq. 13, its pairs and its gradient.

    (1/N) Σ (⟨v_i, v_j⟩ − G_ij)²    over the N = m (m + 1) / 2 + m (V − m) pairs with an anchor

A pair of anchors counts once, an anchor with itself too. Every pair has a target: the PMI of two
words that never co-occur is 0. All pairs of a word are computed at once, as a row of residuals
R = V_B Aᵀ − G_B of some words B and all anchors A: 30 times as fast as pairs one by one.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import torch

from wordgeom.core.types import Csr, Float64, Int64


class Targets(Protocol):
    """The columns of the anchors, G[:, anchors] (V × m)."""

    def subtract(self, rows: torch.Tensor, out: torch.Tensor) -> None:
        """Subtract G[rows, anchors] from `out` (rows × m), in place."""


class DenseTargets:
    """Targets of a dense array (V × m)."""

    def __init__(self, columns: Float64) -> None:
        self._columns = torch.from_numpy(columns)

    def subtract(self, rows: torch.Tensor, out: torch.Tensor) -> None:
        """Subtract the targets of some rows."""
        out -= self._columns[rows]


class SparseTargets:
    """Targets of a sparse block (V × m), 0 where it has no entry."""

    def __init__(self, columns: Csr, device: str) -> None:
        parts = (columns.indptr, columns.indices, columns.data)
        self._indptr, self._indices, self._data = (torch.from_numpy(p).to(device) for p in parts)

    def subtract(self, rows: torch.Tensor, out: torch.Tensor) -> None:
        """Subtract the targets of some rows."""
        begin = self._indptr[rows]
        lengths = self._indptr[rows + 1] - begin
        local = torch.arange(len(rows), device=out.device)
        first = begin - lengths.cumsum(0) + lengths  # of its entries, less its first place in all
        own, shift = (torch.repeat_interleave(of, lengths) for of in (local, first))
        entries = torch.arange(len(own), device=out.device) + shift
        out[own, self._indices[entries].long()] -= self._data[entries]


class Slope(NamedTuple):
    """Σ R² over some rows, and its gradient: for the rows (rows × K), for the anchors (m × K)."""

    squares: float
    rows: torch.Tensor
    anchors: torch.Tensor


class Pairs:
    """The pairs of all words with the anchors.

    anchors (m): their rows, ascending; words: V; number: N; position (V): of a word among the
    anchors, −1 for others.
    """

    def __init__(self, targets: Targets, anchors: Int64, words: int, device: str = "cpu") -> None:
        self._targets, self.words = targets, words
        self.anchors = torch.from_numpy(anchors).to(device)
        m = len(anchors)
        self.position = torch.full((words,), -1, device=device)
        self.position[self.anchors] = torch.arange(m, device=device)
        self.number = m * (m + 1) // 2 + m * (words - m)

    def among(self, rows: torch.Tensor) -> int:
        """Return the number of pairs of some rows."""
        return len(rows) * len(self.anchors) - int(self.position[rows].clamp(min=0).sum())

    def residuals(self, rows: torch.Tensor, own: torch.Tensor, A: torch.Tensor) -> torch.Tensor:
        """Return R (rows × m) for vectors `own` (rows × K) and anchors A (m × K)."""
        R = own @ A.T
        self._targets.subtract(rows, R)
        position = self.position[rows]
        again = position > 0
        if bool(again.any()):  # pairs of anchors that belong to an earlier anchor's row
            places = torch.arange(len(A), device=R.device)
            R[again] *= places >= position[again, None]
        return R

    def squares(self, rows: torch.Tensor, own: torch.Tensor, A: torch.Tensor) -> float:
        """Return Σ R²."""
        R = self.residuals(rows, own, A).ravel()
        return float(R @ R)

    def slope(self, rows: torch.Tensor, own: torch.Tensor, A: torch.Tensor) -> Slope:
        """Return Σ R² and its gradient; an anchor's share as a row is added to its gradient."""
        R = self.residuals(rows, own, A)
        by_row, by_anchor = 2.0 * (R @ A), 2.0 * (R.T @ own)
        among = self.position[rows] >= 0
        by_anchor.index_add_(0, self.position[rows][among], by_row[among])
        flat = R.ravel()
        return Slope(float(flat @ flat), by_row, by_anchor)
