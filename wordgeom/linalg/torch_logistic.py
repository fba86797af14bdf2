"""Logistic loss of rows in Torch, by conjugate gradients of a block of rows at once."""

from __future__ import annotations

import numpy as np
import torch

from wordgeom.core.ops import LogisticSolutions, SharedDiagonal
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Csr
from wordgeom.linalg.torch_rows import GATHERED, RowSystems, conjugate_gradients

_SMALL = 1e-2  # |x| below which the curvature is that at 0, to 1e-5


class TorchLogisticRows:
    """Minimises a bound of the logistic loss of each row (ops.LogisticSolver) on a device."""

    def __init__(self, counts: Csr, device: str) -> None:
        self._counts, self._device = counts, device

    def solve(
        self, other: torch.Tensor, start: torch.Tensor, shared: SharedDiagonal, tol: float,
        most: int,
    ) -> LogisticSolutions:  # fmt: skip
        """Solve to residuals of tol ‖right side‖, in place in `start` (V × K)."""
        losses, total, missed = np.empty(self._counts.rows), 0, 0
        entries = max(1, GATHERED // other.shape[1])
        for low, high in row_blocks(self._counts.indptr, entries=entries):
            loss, steps = self._block(low, high, other, start[low:high], shared, tol, most)
            losses[low:high] = loss.cpu().numpy()
            total += int(steps.sum())
            missed += int((steps == most).sum()) if most else 0
        return LogisticSolutions(start, losses, total, missed)

    def _block(
        self, low: int, high: int, other: torch.Tensor, x: torch.Tensor, shared: SharedDiagonal,
        tol: float, most: int,
    ) -> tuple[torch.Tensor, torch.Tensor]:  # fmt: skip
        """Solve the rows [low, high) in place in x; return their losses before, and steps."""
        begin, end = int(self._counts.indptr[low]), int(self._counts.indptr[high])
        counts = self._tensor(self._counts.data[begin:end]).to(other.dtype)
        columns = self._tensor(self._counts.indices[begin:end]).long()
        loads = self._tensor(shared.loads[low:high])[:, None]
        ridges = self._tensor(shared.ridges[low:high])[:, None]
        own = (loads * self._tensor(shared.diagonal) + ridges).to(other.dtype)
        pull = (loads * self._tensor(shared.pull)).to(other.dtype)
        gathered = other[columns]  # (entries × K)
        system = RowSystems(self._counts.indptr[low : high + 1] - begin, gathered)
        along = system.along(x) + shared.shift
        loss = system.sums(counts * torch.nn.functional.softplus(-along))
        loss += (own * x * x + 2.0 * pull * x).sum(1)
        if not most:
            return loss, torch.zeros(len(x), dtype=torch.int64, device=x.device)
        if shared.expect:
            columns_of = self._tensor(shared.columns)[columns]
            along = torch.log(counts / system.spread(loads)[:, 0] / columns_of).to(other.dtype)
        weights, scale = counts * _curvature(along), own.rsqrt()
        b = system.gather(counts / 4.0 - weights * shared.shift) - pull
        system.rescale(weights.sqrt(), scale)
        x /= scale
        _, steps = conjugate_gradients(system, scale * b, x, tol, most)
        x *= scale
        return loss, steps

    def _tensor(self, array: Array) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device)


def _curvature(along: torch.Tensor) -> torch.Tensor:
    """Return h(t) = tanh(t/2) / 4t of each inner product."""
    size = along.abs()
    return torch.where(size < _SMALL, 0.125, torch.tanh(size / 2.0) / (4.0 * size))
