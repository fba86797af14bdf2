"""Algorithm 1 of Khalife, Gonçalves and Liberti (2022), §3.2–3.3, §4.2.

The top K eigenpairs of the anchors' block, G₀ ≈ U Λ Uᵀ, give the anchors' vectors A = U Λ^½. The
vector of any other word i is the least-squares solution of A v = G[:m, i], Λ^{-½} Uᵀ G[:m, i].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wordgeom.core.errors import RankError
from wordgeom.core.ops import Ops
from wordgeom.core.types import Csr, Float64, Int64

# Eigenvalues below this fraction of the largest are rounding errors of G; others are divisors.
_ROUNDING = {"float32": 1e-6, "float64": 1e-12}


@dataclass(frozen=True)
class Built:
    """vectors (V × K) in the dtype of G; eigenvalues (K) of the anchors' block; rank: in use."""

    vectors: NDArray[Any]
    eigenvalues: Float64
    rank: int


def build_up(columns: Csr, anchors: Int64, K: int, eig: float, ops: Ops) -> Built:
    """Run Algorithm 1 on `columns`, G[:, anchors] (V × m), in the dtype of its data.

    eig: power of the eigenvalues, ½ as published. Raises RankError if the anchors' block has no
    positive eigenvalue.
    """
    values, U = ops.eigh_top(_block(columns, anchors), K)  # (K), (m × K)
    rank = int(np.count_nonzero(values > _ROUNDING[columns.data.dtype.name] * max(values[0], 0.0)))
    if rank == 0:
        raise RankError(
            f"the block of {len(anchors):,} anchors has no positive eigenvalue, and their columns "
            f"have {columns.nnz:,} entries",
            do="raise --anchors, or check the matrix",
        )
    solve, own = np.zeros(U.shape), np.zeros(U.shape)  # columns beyond the rank stay 0
    solve[:, :rank] = U[:, :rank] * values[:rank] ** (eig - 1.0)
    own[:, :rank] = U[:, :rank] * values[:rank] ** eig
    vectors = ops.spmm(columns, solve)
    vectors[anchors] = own
    vectors[np.diff(columns.indptr) == 0] = 0.0
    return Built(vectors, values, rank)


def _block(columns: Csr, rows: Int64) -> Float64:
    """Return the given rows of a sparse matrix as a dense (m × m) float64 array."""
    block = np.zeros((len(rows), columns.columns))
    for k, row in enumerate(rows.tolist()):
        entries = slice(columns.indptr[row], columns.indptr[row + 1])
        block[k, columns.indices[entries]] = columns.data[entries]
    return block
