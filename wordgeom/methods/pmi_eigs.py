"""PMI-eigs: the largest eigenpairs of the whole PMI matrix.

Khalife, Gonçalves and Liberti (2022), §4.2, eq. 8 and 17: among all V (V × K) with V Vᵀ nearest to
G in the Frobenius norm, V = U max(Λ, 0)^½, with the K algebraically largest eigenvalues of G.
`--eig` is another power: 0 gives every direction the same weight, which is better by some sets of
words and worse by others. Columns stand in order of λ: the first k are the solution for K = k. It
reads the whole matrix some thirty times; where seconds matter more than quality, see `gbu`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core import options as base
from wordgeom.core.errors import InputError, RankError
from wordgeom.core.options import option
from wordgeom.core.types import Float32, Float64
from wordgeom.linalg import options as options
from wordgeom.matrices.interfaces import Matrix
from wordgeom.methods.contract import VECTORS, Result
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from wordgeom.linalg.eigensolver import Convergence, Eigenpairs, EigenSettings

NEEDS = ("matrix",)
MAKES = (VECTORS,)

# Eigenvalues below this share of the largest are rounding of G, whose entries are float32.
_ROUNDING = 1e-6
_BELOW = "float32; a --tol below 1e-4 is computed in float64"
_ROW = 100  # bytes of the matrix in memory for each row, beside its entries


@dataclass(frozen=True)
class Options(base.Options):
    """What PMI-eigs can be told."""

    dim: int = option(100, "dimension of the vectors", low=1, metavar="K")
    eig: float = option(
        0.5, "power of the eigenvalues: ½ for inner products, 0 for equal weights",
        low=0.0, high=1.0, metavar="P",
    )  # fmt: skip
    tol: float = option(
        1e-3, "‖Gu − λu‖ of each eigenpair is at most this times its λ", low=1e-10, high=0.1
    )
    basis: int = options.basis()
    restarts: int = options.restarts()


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return U max(Λ, 0)^p; raises RankError where K is more than there is, InputError."""
    from wordgeom.linalg.eigensolver import EigenSettings, largest_eigenpairs

    matrix: Matrix = inputs["matrix"]
    seed = int(context.rng.integers(1 << 62))
    wanted = EigenSettings(options.dim, options.tol, options.basis, options.restarts, seed)
    _check(matrix, wanted, context.memory)

    def follow(looks: Iterator[Convergence]) -> Iterator[Convergence]:
        return context.progress.follow(
            looks, "eigenpairs", options.dim, "pairs", lambda look: look.gained
        )

    operator = context.ops.operator(matrix.full())
    pairs = largest_eigenpairs(
        operator, wanted, context.ops, follow=follow, checkpoint=context.checkpoint
    )
    rank = _rank(pairs.values)
    statistics = {
        "effective_rank": rank,
        "non_positive": int(np.count_nonzero(pairs.values <= 0.0)),
        "converged": int(np.count_nonzero(pairs.residuals <= options.tol * np.abs(pairs.values))),
        "products": pairs.products,
        "restarts": pairs.restarts,
        "spectrum": pairs.values.tolist(),
        "residuals": pairs.residuals.tolist(),
    }
    notes = _rank_notes(pairs, rank) + _residual_notes(pairs, rank, options.tol)
    return Result(_scaled(pairs, rank, options.eig), notes=notes, statistics=statistics)


def _check(matrix: Matrix, wanted: EigenSettings, memory: int) -> None:
    """Refuse a matrix that is not symmetric, too large a K, and what does not fit into memory."""
    V = len(matrix.frequencies)
    if not matrix.symmetric:
        do = "count --context both"
        raise InputError("pmi-eigs needs a symmetric matrix", found="counts of one side", do=do)
    if wanted.pairs > V:
        what = f"--dim {wanted.pairs} is more than there are words"
        raise RankError(what, found=V, do="lower --dim")
    # A column and a value for each entry, and half as much for what is stored: the upper triangle.
    matrix_bytes = 3 * (4 + matrix.dtype.itemsize) * matrix.entries // 2 + _ROW * V
    what = "the matrix and a basis of its eigenvectors"
    do = "raise --memory, lower --dim or --basis, or count with --max-vocab"
    check_memory(what, matrix_bytes + wanted.bytes(V), memory, do)


def _rank(values: Float64) -> int:
    """Return how many eigenvalues are positive and more than rounding."""
    largest = max(float(values[0]), 0.0)
    rank = int(np.count_nonzero(values > _ROUNDING * largest))
    if rank == 0:
        found = f"{values[0]:.3g} as its largest"
        do = "count more text, or check the matrix"
        raise RankError("the matrix has no positive eigenvalue", found=found, do=do)
    return rank


def _scaled(pairs: Eigenpairs, rank: int, eig: float) -> Float32:
    """Return U Λ^eig, (V × K) float32, zero beyond the rank; the largest entries positive."""
    from wordgeom.linalg.signs import fix_signs

    vectors = np.zeros(pairs.vectors.shape, np.float32)
    for k in range(rank):  # one by one, since all of them in float64 take twice as much again
        column = slice(k, k + 1)
        vectors[:, column] = fix_signs(pairs.vectors[:, column]) * pairs.values[column] ** eig
    return vectors


def _rank_notes(pairs: Eigenpairs, rank: int) -> list[str]:
    K = len(pairs.values)
    if rank == K:
        return []
    negative = int(np.count_nonzero(pairs.values <= 0.0))
    return [
        f"{rank} of {K} eigenvalues are positive and more than rounding ({negative} are ≤ 0): "
        f"{K - rank} columns are zero; lower --dim"
    ]


def _residual_notes(pairs: Eigenpairs, rank: int, tol: float) -> list[str]:
    """Tell of pairs that miss the tolerance: unconverged ones, and those at rounding's limit."""
    ratios = pairs.residuals[:rank] / pairs.values[:rank]
    converged = pairs.converged[:rank]
    notes = []
    for missed, do in (
        (~converged, "raise --restarts or --basis"),
        (
            converged & (ratios > tol),
            "that is the rounding of float32; below --tol 1e-4 float64 is used",
        ),
    ):
        if missed.any():
            notes.append(
                f"{np.count_nonzero(missed)} of {rank} eigenpairs do not keep --tol {tol:g} "
                f"(the worst ‖Gu − λu‖ is {ratios[missed].max():.1e} λ): {do}"
            )
    return notes
