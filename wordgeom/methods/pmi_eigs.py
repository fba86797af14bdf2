"""PMI-eigs: the largest eigenpairs of the full PMI matrix.

Khalife, Gonçalves and Liberti (2022), §4.2, eq. 8 and 17. Among all V (V × K), V Vᵀ is nearest to
the PMI matrix G in the Frobenius norm for V = U max(Λ, 0)^½, with the K algebraically largest
eigenvalues of G. `--eig` sets another power: 0 weights all axes equally, which scores higher on
some test sets and lower on others. Columns are in order of λ: the first k are the solution for
K = k. The solver reads the full matrix about thirty times; where speed matters more, see `gbu`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import InputError, RankError
from wordgeom.core.options import option
from wordgeom.core.types import Float32, Float64
from wordgeom.linalg import options as solver_options
from wordgeom.matrices.interfaces import Matrix
from wordgeom.methods.contract import VECTORS, Result, Status
from wordgeom.methods.dimension import DimOptions, fit_with
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from wordgeom.linalg.dimension.choice import Choice
    from wordgeom.linalg.eigensolver import Eigenpairs, EigenSettings

NEEDS = ("matrix",)
MAKES = (VECTORS,)

# Eigenvalues below this fraction of the largest are rounding errors of G, stored as float32.
_ROUNDING = 1e-6
_ROW = 100  # bytes of a row of the matrix in memory, besides its entries


@dataclass(frozen=True)
class Options(DimOptions):
    """Options of PMI-eigs."""

    eig: float = option(
        0.5, "power of the eigenvalues: 0.5 fits inner products, 0 weights axes equally",
        low=0.0, high=1.0, metavar="P",
    )  # fmt: skip
    tol: float = option(
        1e-3, "tolerance on the residual ‖Gu − λu‖ of each eigenpair, relative to λ",
        low=1e-10, high=0.1,
    )  # fmt: skip
    basis: int = solver_options.basis()
    restarts: int = solver_options.restarts()

    def __post_init__(self) -> None:
        super().__post_init__()
        solver_options.check_basis(self.basis, self.size)


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return U max(Λ, 0)^p (V × K) float32.

    Raises RankError if K exceeds V or no eigenvalue is positive, InputError if the matrix is
    one-sided or memory is insufficient.
    """
    matrix: Matrix = inputs["matrix"]
    return fit_with(
        options,
        lambda: _chosen(matrix, options, context),
        lambda chosen: _fit(matrix, chosen, context),
    )


def _chosen(matrix: Matrix, options: Options, context: Context) -> Choice:
    """Return the dimension that a rule chooses."""
    from wordgeom.linalg.dimension.choice import check_choice_memory, choose_dimension

    _check_symmetric(matrix)
    V = len(matrix.frequencies)
    check_choice_memory((V, V), matrix.entries, context.memory)
    G = matrix.full()
    return choose_dimension(G, options.rule, options.eig, options.restarts, context, symmetric=True)


def _fit(matrix: Matrix, options: Options, context: Context) -> Result:
    """Return the result for a given dimension."""
    pairs = _eigenpairs(matrix, options, context)
    rank = _rank(pairs.values)
    missed = pairs.residuals[:rank] > options.tol * pairs.values[:rank]
    statistics = {
        "effective_rank": rank,
        "non_positive": int(np.count_nonzero(pairs.values <= 0.0)),
        "converged": int(np.count_nonzero(pairs.residuals <= options.tol * np.abs(pairs.values))),
        "products": pairs.products,
        "restarts": pairs.restarts,
        **pairs.probes.statistics(),
        "spectrum": pairs.values.tolist(),
        "residuals": pairs.residuals.tolist(),
    }
    return Result(
        _scaled(pairs, rank, options.eig),
        notes=[
            *_rank_notes(pairs, rank),
            *_residual_notes(pairs, rank, options.tol),
            *pairs.probes.notes("eigenvalues"),
        ],
        statistics=statistics,
        status=Status.of(missed=bool(missed.any()), deficient=rank < options.size),
    )


def _eigenpairs(matrix: Matrix, options: Options, context: Context) -> Eigenpairs:
    """Return the K largest eigenpairs of the matrix."""
    from wordgeom.linalg.eigensolver import EigenSettings, largest_eigenpairs

    seed = int(context.rng.integers(1 << 62))
    wanted = EigenSettings(options.size, tol=options.tol, basis=options.basis,
                           restarts=options.restarts, seed=seed)  # fmt: skip
    _check(matrix, wanted, context.memory)
    operator = context.ops.operator(matrix.full())
    return largest_eigenpairs(
        operator, wanted, context.ops, checkpoint=context.checkpoint,
        follow=lambda checks: context.progress.follow(
            checks, "eigenpairs", options.size, "pairs", lambda check: check.gained
        ),
    )  # fmt: skip


def _check_symmetric(matrix: Matrix) -> None:
    """Raise InputError if the matrix is one-sided."""
    if not matrix.symmetric:
        do = "build it with --context both"
        raise InputError("pmi-eigs needs a symmetric matrix, not one-sided counts", do=do)


def _check(matrix: Matrix, wanted: EigenSettings, memory: int) -> None:
    """Raise InputError if the matrix is one-sided or too large, RankError if K is too large."""
    V = len(matrix.frequencies)
    _check_symmetric(matrix)
    if wanted.pairs > V:
        what = f"--dim {wanted.pairs} exceeds the number of words, {V:,}"
        raise RankError(what, do="lower --dim")
    # Column and value of each entry, plus half of that for the stored upper triangle.
    matrix_bytes = 3 * (4 + matrix.dtype.itemsize) * matrix.entries // 2 + _ROW * V
    what = "the matrix and a basis of its eigenvectors"
    do = "raise --memory, lower --dim or --basis, or count with --max-vocab"
    check_memory(what, matrix_bytes + wanted.bytes(V), memory, do)


def _rank(values: Float64) -> int:
    """Return the number of eigenvalues that are positive and above rounding error."""
    largest = max(float(values[0]), 0.0)
    rank = int(np.count_nonzero(values > _ROUNDING * largest))
    if rank == 0:
        what = f"the largest eigenvalue of the matrix is {values[0]:.3g}, not positive"
        do = "count more text, or check the matrix"
        raise RankError(what, do=do)
    return rank


def _scaled(pairs: Eigenpairs, rank: int, eig: float) -> Float32:
    """Return U Λ^eig (V × K) float32, with zero columns beyond the rank and signs fixed."""
    from wordgeom.linalg.signs import fix_signs

    vectors = np.zeros(pairs.vectors.shape, np.float32)
    for k in range(rank):  # column by column: all at once in float64 would need twice the memory
        column = slice(k, k + 1)
        vectors[:, column] = fix_signs(pairs.vectors[:, column]) * pairs.values[column] ** eig
    return vectors


def _rank_notes(pairs: Eigenpairs, rank: int) -> list[str]:
    K = len(pairs.values)
    if rank == K:
        return []
    negative = int(np.count_nonzero(pairs.values <= 0.0))
    return [
        f"{rank} of {K} eigenvalues are positive and above rounding error ({negative} are ≤ 0); "
        f"{K - rank} columns are zero; lower --dim"
    ]


def _residual_notes(pairs: Eigenpairs, rank: int, tol: float) -> list[str]:
    """Report pairs that miss the tolerance: not converged, or at the limit of float32."""
    ratios = pairs.residuals[:rank] / pairs.values[:rank]
    converged = pairs.converged[:rank]
    limit = "this is the limit of float32; set --tol below 1e-4 to compute in float64"
    notes = []
    for missed, do in (
        (~converged, "raise --restarts or --basis"),
        (converged & (ratios > tol), limit),
    ):
        if missed.any():
            notes.append(
                f"{np.count_nonzero(missed)} of {rank} eigenpairs miss --tol {tol:g} "
                f"(the largest ‖Gu − λu‖ is {ratios[missed].max():.1e} λ); {do}"
            )
    return notes
