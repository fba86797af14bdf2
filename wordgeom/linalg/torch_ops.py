"""The primitives in Torch, on a GPU or, for tests, on the CPU; imported only when requested."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike, NDArray

from wordgeom.core.errors import UnavailableError
from wordgeom.core.row_blocks import row_blocks
from wordgeom.core.types import Array, Csr, Float64
from wordgeom.linalg.signs import fix_signs
from wordgeom.linalg.torch_logistic import TorchLogisticRows
from wordgeom.linalg.torch_rows import TorchRows

_SHARE = 0.4  # of the free device memory, for a resident sparse matrix


class TorchOps:
    """Linear algebra on a Torch device; raises UnavailableError where there is no GPU.

    resident: bytes of a sparse matrix that may stay on the device, None for a share of its free
    memory; further blocks are copied there for each product.
    """

    def __init__(self, device: str, resident: int | None = None) -> None:
        if device == "cuda" and not torch.cuda.is_available():
            raise UnavailableError(
                "--device cuda needs a GPU", found="none usable by Torch", do="use --device cpu"
            )
        self.device, self._resident = device, resident

    def eigh_top(self, symmetric: Float64, k: int) -> tuple[Float64, Float64]:
        """Return the k algebraically largest eigenvalues, descending (k), and vectors (m × k)."""
        values, vectors = torch.linalg.eigh(self._tensor(symmetric))  # ascending
        top = slice(None, -k - 1, -1)
        signed = fix_signs(vectors.cpu().numpy()[:, top])
        return values.cpu().numpy()[top].copy(), np.ascontiguousarray(signed)

    def operator(self, sparse: Csr) -> TorchOperator:
        """Return a sparse matrix as an operator, resident on the device as far as it fits."""
        room = self._free() if self._resident is None else self._resident
        return TorchOperator(sparse, self.device, room)

    def spmm(self, sparse: Csr, dense: NDArray[Any]) -> NDArray[Any]:
        """Return sparse (V × m) times dense (m × K), (V × K), in the dtype of the sparse data."""
        return self.to_numpy(self.operator(sparse).multiply(self.tall(dense, sparse.data.dtype)))

    def row_solver(self, targets: Csr, weights: Array) -> TorchRows:
        """Return a solver of the weighted least squares of all rows, block by block."""
        return TorchRows(targets, weights, self.device)

    def logistic_solver(self, counts: Csr) -> TorchLogisticRows:
        """Return a solver of the logistic loss of all rows, block by block."""
        return TorchLogisticRows(counts, self.device)

    def tall(self, array: Array, dtype: DTypeLike) -> torch.Tensor:
        """Return a copy of an array (V × k) on the device, in `dtype`."""
        return self._tensor(np.array(array, dtype, order="C"))

    def empty(self, rows: int, columns: int, dtype: DTypeLike) -> torch.Tensor:
        """Return an uninitialised tensor (rows × columns)."""
        kind = torch.from_numpy(np.empty(0, dtype)).dtype
        return torch.empty((rows, columns), dtype=kind, device=self.device)

    def to_numpy(self, tall: torch.Tensor) -> Array:
        """Return a tensor (V × k) as a C-contiguous NumPy array."""
        return np.ascontiguousarray(tall.cpu().numpy())

    def inner(self, left: torch.Tensor, right: torch.Tensor) -> Float64:
        """Return leftᵀ right, (k × l), of two tall tensors."""
        product: Float64 = (left.T @ right).cpu().numpy().astype(np.float64)
        return product

    def subtract(self, tall: torch.Tensor, basis: torch.Tensor, weights: Float64) -> None:
        """Subtract basis (V × k) times weights (k × l) from tall (V × l), in place."""
        tall -= basis @ self._tensor(weights).to(tall.dtype)

    def combine(self, basis: torch.Tensor, weights: Float64) -> torch.Tensor:
        """Return basis (V × k) times weights (k × l), (V × l), newly allocated."""
        return basis @ self._tensor(weights).to(basis.dtype)

    def moments(self, tall: torch.Tensor, weights: Float64) -> tuple[Float64, Float64]:
        """Return Σ w_i t_i t_iᵀ (k × k) and Σ w_i t_i (k) of the rows of a tall tensor (V × k)."""
        weighted = tall * self._tensor(weights).to(tall.dtype)[:, None]
        return self.inner(weighted, tall), np.asarray(weighted.sum(0).cpu().numpy(), np.float64)

    def row_products(self, left: torch.Tensor, right: Sequence[torch.Tensor]) -> Float64:
        """Return left rightᵀ (a × b) of a few long rows: left (a × N), right: b rows (N)."""
        products = torch.stack([left @ row for row in right], dim=1)
        return np.asarray(products.cpu().numpy(), np.float64)

    def row_sum(self, weights: Float64, rows: torch.Tensor) -> torch.Tensor:
        """Return weights (a) times a few long rows (a × N), (N), newly allocated."""
        return self._tensor(weights).to(rows.dtype) @ rows

    def along(
        self, start: torch.Tensor, step: float, direction: torch.Tensor,
        out: torch.Tensor | None = None,
    ) -> torch.Tensor:  # fmt: skip
        """Return start + step · direction, of two tensors of one shape, in `out` or a new one."""
        return torch.add(start, direction, alpha=step, out=out)

    def scale_rows(self, tall: torch.Tensor, factors: Float64) -> None:
        """Multiply the rows of a tall tensor (V × k) by factors (V), in place."""
        tall *= self._tensor(factors).to(tall.dtype)[:, None]

    def _free(self) -> int:
        if self.device != "cuda":
            return 1 << 62
        return int(torch.cuda.mem_get_info()[0] * _SHARE)

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)


class TorchOperator:
    """A sparse matrix (V × m) in blocks of rows: the first resident, the others copied."""

    def __init__(self, sparse: Csr, device: str, room: int) -> None:
        self.shape = (sparse.rows, sparse.columns)
        self._device = device
        self._blocks = []
        for start, stop in row_blocks(sparse.indptr):
            block = _block(sparse, start, stop)
            room -= sum(part.nbytes for part in block)
            where = device if room >= 0 else "cpu"
            self._blocks.append((start, stop, [part.to(where) for part in block]))

    def multiply(self, tall: torch.Tensor) -> torch.Tensor:
        """Return the matrix times `tall` (m × k), (V × k), in the dtype of `tall`."""
        out = torch.empty((self.shape[0], tall.shape[1]), dtype=tall.dtype, device=tall.device)
        for start, stop, parts in self._blocks:
            indptr, indices, data = (part.to(self._device, non_blocking=True) for part in parts)
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
                # The rows were checked when they were read.
                rows = torch.sparse_csr_tensor(
                    indptr, indices, data.to(tall.dtype), (stop - start, self.shape[1]),
                    check_invariants=False,
                )  # fmt: skip
                out[start:stop] = rows @ tall
        return out


def _block(sparse: Csr, start: int, stop: int) -> list[torch.Tensor]:
    """Return indptr, indices and data of some rows, both index arrays int32."""
    begin, end = int(sparse.indptr[start]), int(sparse.indptr[stop])
    indptr = (sparse.indptr[start : stop + 1] - begin).astype(np.int32)
    parts = (indptr, sparse.indices[begin:end], sparse.data[begin:end])
    return [torch.from_numpy(np.ascontiguousarray(part)) for part in parts]
