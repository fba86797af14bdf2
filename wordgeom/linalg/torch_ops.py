"""The primitives in Torch, on a GPU or (for tests) on the CPU; imported only when asked for."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from wordgeom.errors import UnavailableError
from wordgeom.linalg.ops import fix_signs
from wordgeom.types import Csr, Float64


class TorchOps:
    """Linear algebra on a Torch device. Raises UnavailableError where there is no GPU."""

    def __init__(self, device: str) -> None:
        if device == "cuda" and not torch.cuda.is_available():
            raise UnavailableError(
                "--device cuda needs a GPU", found="none that Torch can use", do="use --device cpu"
            )
        self._device = device

    def eigh_top(self, symmetric: Float64, k: int) -> tuple[Float64, Float64]:
        """Return the k algebraically largest eigenvalues, descending (k), and vectors (m × k)."""
        values, vectors = torch.linalg.eigh(self._tensor(symmetric))  # ascending
        top = slice(None, -k - 1, -1)
        signed = fix_signs(vectors.cpu().numpy()[:, top])
        return values.cpu().numpy()[top].copy(), np.ascontiguousarray(signed)

    def spmm(self, sparse: Csr, dense: NDArray[Any]) -> NDArray[Any]:
        """Return sparse (V × m) times dense (m × K), (V × K), in the type of the sparse data."""
        right = self._tensor(dense.astype(sparse.data.dtype, copy=False))
        parts = [self._tensor(part) for part in (sparse.indptr, sparse.indices, sparse.data)]
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Sparse CSR tensor support is in beta")
            # Rows were checked as they were read.
            left = torch.sparse_csr_tensor(
                parts[0], parts[1].to(torch.int64), parts[2], (sparse.rows, sparse.columns),
                check_invariants=False,
            )  # fmt: skip
            product: NDArray[Any] = (left @ right).cpu().numpy()
        return product

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self._device)
