"""LSA: word and document vectors from the truncated SVD of a document-term matrix.

Carrington (2021), §2.1 and §2.3.1. U Σ Vᵀ is the best approximation of rank K, in the Frobenius
norm, of the weighted documents × words matrix X. Words get the rows of V Σ^α, where α is `--eig`,
and documents those of U Σ^(1−α), so that their inner products approximate X for any α. Columns are
in order of σ: the first k are the solution for K = k. X is not centred, so the first column mostly
measures frequency. For similarity of words in running text, see `gbu` and `pmi-eigs`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core.errors import RankError
from wordgeom.core.formatting import several
from wordgeom.core.options import option
from wordgeom.core.types import Array, Csr, Float32, Float64
from wordgeom.linalg import options as solver_options
from wordgeom.methods.contract import DOCUMENT_VECTORS, VECTORS, Result, Status
from wordgeom.methods.dimension import DimOptions, fit_with
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from wordgeom.linalg.dimension.choice import Choice
    from wordgeom.linalg.eigensolver import EigenSettings
    from wordgeom.linalg.svd import Svd
    from wordgeom.weighting.documents import WeightedDocuments

NEEDS = ("documents",)
MAKES = (VECTORS, DOCUMENT_VECTORS)

# Singular values below this fraction of the largest are rounding errors of X, stored as float32.
_ROUNDING = 1e-6
_ENTRY, _ROW = 8, 8  # bytes of an entry and of a row of the matrix in memory


@dataclass(frozen=True)
class Options(DimOptions):
    """Options of LSA."""

    eig: float = option(
        0.0, "power of the singular values in word vectors; documents get 1 − P",
        low=0.0, high=1.0, metavar="P",
    )  # fmt: skip
    tol: float = option(
        1e-2, "tolerance on the residual ‖Xᵀu − σv‖ of each triplet, relative to σ",
        low=1e-10, high=0.1,
    )  # fmt: skip
    basis: int = solver_options.basis()
    restarts: int = solver_options.restarts()

    def __post_init__(self) -> None:
        super().__post_init__()
        solver_options.check_basis(self.basis, self.size)


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return word vectors V Σ^α and, in `arrays`, document vectors U Σ^(1−α) (n × K) float32.

    Raises RankError if K exceeds the size of the matrix, InputError if memory is insufficient.
    """
    documents: WeightedDocuments = inputs["documents"]
    return fit_with(
        options,
        lambda: _chosen(documents, options, context),
        lambda chosen: _fit(documents, chosen, context),
    )


def _chosen(documents: WeightedDocuments, options: Options, context: Context) -> Choice:
    """Return the dimension that a rule chooses for the word vectors."""
    from wordgeom.linalg.dimension.choice import check_choice_memory, choose_dimension

    check_choice_memory(documents.shape, documents.entries, context.memory)
    X, power = _full(documents), options.eig
    return choose_dimension(X, options.rule, power, options.restarts, context, symmetric=False)


def _fit(documents: WeightedDocuments, options: Options, context: Context) -> Result:
    """Return the result for a given dimension."""
    X, svd = _decomposed(documents, options, context)
    rows, columns = _squared_norms(X)
    rank = int(np.count_nonzero(svd.values > _ROUNDING * svd.values[0]))
    missed = int(np.count_nonzero(~svd.converged[:rank]))
    captured = np.cumsum(svd.values**2) / columns.sum()
    statistics = {
        "effective_rank": rank,
        "converged": int(np.count_nonzero(svd.converged)),
        "products": svd.products,
        **svd.probes.statistics(),
        "spectrum_of": "singular values",
        "spectrum": svd.values.tolist(),
        "residuals": svd.residuals.tolist(),
        "captured": captured.tolist(),
    }
    return Result(
        _scaled(svd.right, svd.values, rank, options.eig, columns),
        {"documents": _scaled(svd.left, svd.values, rank, 1.0 - options.eig, rows)},
        [
            *_fit_notes(svd, rank, missed, captured),
            *svd.probes.notes("singular values"),
            *_empty_notes(rows, columns),
        ],
        statistics,
        Status.of(missed=missed > 0, deficient=rank < options.size),
    )


def _decomposed(
    documents: WeightedDocuments, options: Options, context: Context
) -> tuple[Csr, Svd]:
    """Return the weighted matrix X and its truncated SVD."""
    from wordgeom.linalg.eigensolver import EigenSettings
    from wordgeom.linalg.svd import truncated_svd

    seed = int(context.rng.integers(1 << 62))
    wanted = EigenSettings(options.size, tol=options.tol, basis=options.basis,
                           restarts=options.restarts, seed=seed)  # fmt: skip
    _check(documents, wanted, context.memory)
    X = _full(documents)
    svd = truncated_svd(
        X, wanted, context.ops, checkpoint=context.checkpoint,
        follow=lambda checks: context.progress.follow(
            checks, "singular values", options.size, "triplets", lambda check: check.gained
        ),
    )  # fmt: skip
    return X, svd


def _full(documents: WeightedDocuments) -> Csr:
    """Return the weighted matrix; raises RankError if it is 0."""
    X = documents.full()
    if not X.data.any():
        raise RankError("all entries of the matrix are 0", do="choose another --weight")
    return X


def _check(documents: WeightedDocuments, wanted: EigenSettings, memory: int) -> None:
    """Raise RankError if K is too large, InputError if the memory limit is too low."""
    from wordgeom.linalg.svd import svd_bytes

    n, V = documents.shape
    if wanted.pairs > min(n, V):
        what = f"--dim {wanted.pairs} exceeds the number of documents or words, {n:,} × {V:,}"
        raise RankError(what, do="lower --dim")
    what = "the matrix, its transpose and a basis of its singular vectors"
    do = "raise --memory, lower --dim or --basis, or build the matrix with --max-vocab"
    needed = _ENTRY * documents.entries + _ROW * n + svd_bytes(n, V, documents.entries, wanted)
    check_memory(what, needed, memory, do)


def _squared_norms(X: Csr) -> tuple[Float64, Float64]:
    """Return the squared norms of the rows (n) and of the columns (V)."""
    from wordgeom.linalg import kernels

    rows, columns = np.zeros(X.rows), np.zeros(X.columns)
    kernels.add_squares(X.indptr, X.indices, X.data, rows, columns)
    return rows, columns


def _scaled(side: Array, values: Float64, rank: int, power: float, squares: Float64) -> Float32:
    """Return side Σ^power (· × K) float32, with zero columns beyond the rank.

    Rows without weight in X (squares is 0) are set to 0: what the solver left there is as small as
    the residual, but not 0.
    """
    weights = np.zeros(len(values))
    weights[:rank] = values[:rank] ** power
    vectors: Float32 = (side * weights.astype(side.dtype)).astype(np.float32, copy=False)
    vectors[squares == 0.0] = 0.0
    return vectors


def _fit_notes(svd: Svd, rank: int, missed: int, captured: Float64) -> list[str]:
    """Report how much of ‖X‖² is captured, the worst residual, and what was not found."""
    K = len(svd.values)
    ratios = svd.residuals[:rank] / svd.values[:rank]
    notes = [
        f"{several(K, 'dimension captures', 'dimensions capture')} {captured[-1]:.2%} of the "
        f"squared norm of the matrix; the largest ‖Xᵀu − σv‖ is {ratios.max():.1e} σ"
    ]
    if rank < K:
        notes.append(_rank_note(rank, K, svd.left.dtype))
    if missed:
        notes.append(f"{missed} of {K} singular triplets miss --tol; raise --restarts or --basis")
    return notes


def _rank_note(rank: int, K: int, dtype: np.dtype[Any]) -> str:
    """Report zero columns; values that float32 cannot resolve need not be rounding errors of X."""
    if dtype == np.float32:
        above = "above the resolution of float32, 3e-4 of the largest"
        do = "lower --dim, or set --tol below 1e-4 to compute in float64"
    else:
        above, do = f"above rounding error, {_ROUNDING:g} of the largest", "lower --dim"
    zero = several(K - rank, "column is zero", "columns are zero")
    return f"{rank} of {K} singular values are {above}; {zero}; {do}"


def _empty_notes(rows: Float64, columns: Float64) -> list[str]:
    """Report words and documents without weight in X."""
    notes = []
    for squares, one, more in ((columns, "word", "words"), (rows, "document", "documents")):
        empty = int(np.count_nonzero(squares == 0.0))
        if empty:
            has = several(empty, f"{one} has", f"{more} have")
            notes.append(f"{has} no weight in the matrix; the vectors are zero")
    return notes
