"""The vectors of one later block: by eigenpairs, by the build-up, or against a placed core.

A block is realised on its own, in its own basis, and then aligned to the vectors of its overlap.
With the build-up and a common core, least squares against the core's vectors does both at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wordgeom.core.ops import Ops, Tall
from wordgeom.core.types import Array, Float64
from wordgeom.linalg.dense_eigenpairs import largest_of_dense
from wordgeom.linalg.gram import spectrum
from wordgeom.linalg.procrustes import align
from wordgeom.methods.dc.gather import Entries

# Eigenvalues below this fraction of the largest are rounding errors of G (pmi_eigs, algorithm1).
ROUNDING = {"float32": 1e-6, "float64": 1e-12}


@dataclass(frozen=True)
class Task:
    """A later block: its entries, its number of own words, and the overlap before them.

    anchors: number of words, the first ones, whose eigenpairs realise it; 0: all. shared: the
    entries within a common core, (overlap × overlap); (0 × 0) without one.
    """

    entries: Entries
    own: int
    overlap: int
    anchors: int
    shared: Float64


@dataclass(frozen=True)
class Placed:
    """Aligned vectors (own × K) of a block.

    error: ‖X Q + T − V‖ / ‖V‖ on its overlap; rank: directions that the overlap determines.
    """

    vectors: Float64
    error: float
    rank: int


def realise(task: Task, K: int) -> Mapping[str, Array]:
    """Return vectors (n × K) in the block's own basis, with its residual and isolated words.

    residual: ‖G − X Xᵀ‖ / ‖G‖ over the block; isolated: own words without an entry in it.
    """
    size = task.overlap + task.own
    G = task.entries.dense(size)
    G[: len(task.shared), : len(task.shared)] += task.shared
    X = _realised(G, min(task.anchors or size, size), K, ROUNDING[task.entries.values.dtype.name])
    norm = np.linalg.norm(G)
    residual = np.linalg.norm(G - X @ X.T) / norm if norm else 0.0
    isolated = np.count_nonzero(~G[task.overlap :].any(axis=1))
    return {"vectors": X, "residual": np.array(residual), "isolated": np.array(isolated)}


def _realised(G: Float64, m: int, K: int, rounding: float) -> Float64:
    """Return Algorithm 1 with the first m words of a dense block; all of them: its eigenpairs."""
    X = np.zeros((len(G), K))
    # Most rare words have no entry in their block: their eigenvalues are 0.
    words = np.flatnonzero(G[:m, :m].any(axis=1))
    if len(words) == 0:
        return X
    values, U = largest_of_dense(G[np.ix_(words, words)], min(K, len(words)))
    positive = values > rounding * max(values[0], 0.0)
    roots = np.sqrt(values, where=positive, out=np.zeros_like(values))
    X[words, : len(values)] = U * roots
    inverse = np.divide(1.0, roots, where=positive, out=np.zeros_like(roots))
    X[m:, : len(values)] = G[m:, words] @ (U * inverse)
    return X


def place(realised: Float64, placed: Float64, *, rigid: bool, dtype: str) -> Placed:
    """Align a block (n × K) to the vectors of its overlap, `placed` (overlap × K)."""
    overlap = len(placed)
    common = realised[:overlap]
    alignment = align(common, placed, centre=rigid)
    difference = np.linalg.norm(alignment.apply(common) - placed)
    norm = np.linalg.norm(placed)
    error = float(difference / norm) if norm else 0.0
    return Placed(alignment.apply(realised[overlap:]), error, alignment.rank(ROUNDING[dtype]))


@dataclass(frozen=True)
class Core:
    """The placed vectors of a common core, A (c × K), for least squares against them.

    solver (c × K): A (AᵀA)⁻¹; gram (K × K): AᵀA; rank: of A.
    """

    solver: Array
    gram: Float64
    rank: int

    @classmethod
    def of(cls, vectors: Tall, ops: Ops) -> Core:
        """Return the core of vectors (c × K) on the device; raises RankError where all are 0."""
        values, Z = spectrum(vectors, ops)
        solver = ops.to_numpy(ops.combine(vectors, (Z / values) @ Z.T))
        return cls(solver, ops.inner(vectors, vectors), len(values))

    def solve(self, task: Task, ops: Ops) -> Mapping[str, Array]:
        """Return the least-squares vectors of a block's own words, with what `realise` adds."""
        rows = task.entries.below(task.overlap, task.own)
        X = ops.spmm(rows, self.solver).astype(np.float64)
        isolated = np.count_nonzero(np.diff(rows.indptr) == 0)
        # ‖G − X Aᵀ‖² = ‖G‖² − ‖X Aᵀ‖²: X Aᵀ is a projection of G.
        norm = np.square(rows.data, dtype=np.float64).sum()
        left = max(0.0, norm - float(np.einsum("ij,jk,ik->", X, self.gram, X, optimize=True)))
        residual = np.sqrt(left / norm) if norm else 0.0
        return {"vectors": X, "residual": np.array(residual), "isolated": np.array(isolated)}
