"""Weighted least squares of rows in Torch, by conjugate gradients of a block of rows at once."""

from __future__ import annotations

import warnings

import numpy as np
import torch

from wordgeom.core.ops import RowSolutions
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Csr

GATHERED = 1 << 27  # numbers gathered at once: 0.5 GB in float32


class TorchRows:
    """Weighted least squares of the rows of a pattern (ops.RowSolver) on a device."""

    def __init__(self, targets: Csr, weights: Array, device: str) -> None:
        self._targets, self._weights, self._device = targets, weights, device

    def solve(
        self, other: torch.Tensor, start: torch.Tensor, tol: float, most: int
    ) -> RowSolutions:
        """Solve to residuals of tol ‖right side‖, in place in `start` (V × K)."""
        gains, total, missed = np.empty(self._targets.rows), 0, 0
        entries = max(1, GATHERED // other.shape[1])
        for low, high in row_blocks(self._targets.indptr, entries=entries):
            gain, steps = self._block(low, high, other, start[low:high], tol, most)
            gains[low:high] = gain.cpu().numpy()
            total += int(steps.sum())
            missed += int((steps == most).sum())
        return RowSolutions(start, gains, total, missed)

    def _block(
        self, low: int, high: int, other: torch.Tensor, x: torch.Tensor, tol: float, most: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Solve the rows [low, high) in place in x; return the gains and steps of each row."""
        begin, end = int(self._targets.indptr[low]), int(self._targets.indptr[high])
        weights = self._tensor(self._weights[begin:end]).to(other.dtype)
        targets = self._tensor(self._targets.data[begin:end]).to(other.dtype)
        columns = self._tensor(self._targets.indices[begin:end]).long()
        gathered = other[columns] * weights.sqrt()[:, None]  # (entries × K)
        system = RowSystems(self._targets.indptr[low : high + 1] - begin, gathered)
        b = system.gather(weights.sqrt() * targets)
        r, steps = conjugate_gradients(system, b, x, tol, most)
        return (x * (b + r)).sum(1), steps

    def _tensor(self, array: Array) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device)


class RowSystems:
    """The matrix I + YᵀY of each row, where Y are its gathered rows."""

    def __init__(self, indptr: Array, gathered: torch.Tensor) -> None:
        self._gathered = gathered
        self._rows, self._device = len(indptr) - 1, gathered.device
        lengths = torch.from_numpy(np.diff(indptr))
        self._indptr = torch.from_numpy(indptr).to(self._device)
        self._own = torch.repeat_interleave(torch.arange(self._rows), lengths).to(self._device)
        self._places = torch.arange(len(gathered), device=self._device)

    def rescale(self, entries: torch.Tensor, rows: torch.Tensor) -> None:
        """Multiply Y by a factor of each entry, and of each row and column (rows × K)."""
        self._gathered = self._gathered * entries[:, None] * rows[self._own]

    def times(self, p: torch.Tensor) -> torch.Tensor:
        """Return (I + YᵀY) p of each row (rows × K)."""
        return p + self.gather(self.along(p))

    def spread(self, values: torch.Tensor) -> torch.Tensor:
        """Return the values of the rows (rows × k) for each entry."""
        return values[self._own]

    def along(self, p: torch.Tensor) -> torch.Tensor:
        """Return Y p of each row (rows × K), one value for each entry."""
        return (self._gathered * p[self._own]).sum(1)

    def sums(self, values: torch.Tensor) -> torch.Tensor:
        """Return the sum of the values (entries) of each row."""
        zeros = torch.zeros(self._rows, dtype=values.dtype, device=self._device)
        return zeros.index_add_(0, self._own, values)

    def gather(self, values: torch.Tensor) -> torch.Tensor:
        """Return Yᵀ times the values (entries) of each row, (rows × K)."""
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            shape = (self._rows, len(values))
            spread = torch.sparse_csr_tensor(
                self._indptr, self._places, values, shape, check_invariants=False
            )
            return spread @ self._gathered


def conjugate_gradients(
    system: RowSystems, b: torch.Tensor, x: torch.Tensor, tol: float, most: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Solve (I + YᵀY) x = b for each row (rows × K), in place in x; return residuals and steps."""
    r = b - system.times(x)
    worse = (x * (b + r)).sum(1) < 0.0  # a worse start than 0: restart there
    x[worse], r[worse] = 0.0, b[worse]
    p, rr = r.clone(), (r * r).sum(1)
    enough = tol * tol * (b * b).sum(1)
    steps = torch.zeros(len(x), dtype=torch.int64, device=x.device)
    for _ in range(most):
        active = rr > enough
        if not bool(active.any()):
            break
        q = system.times(p)
        along = torch.where(active, rr / (p * q).sum(1), 0.0)[:, None]
        x += along * p
        r -= along * q
        fresh = torch.where(active, (r * r).sum(1), rr)
        turn = torch.where(active, fresh / rr, 0.0)[:, None]
        p, rr = r + turn * p, fresh
        steps += active
    return r, steps
