"""LSA: words and documents by the largest singular triplets of their counts.

Carrington (2021), §2.1 and §2.3.1: X ≈ U Σ Vᵀ is nearest to the weighted documents × words matrix
X among all of rank K, in the Frobenius norm. Words get the rows of V Σ^α (`--eig`; 0, V itself, is
the thesis's default), documents those of U Σ^(1−α): their inner products are the approximation of
X at any α. Columns stand in order of σ: the first k are the solution for K = k. X is taken as it
is, not less its means, so that the first column is mostly how much there is of everything.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from wordgeom.core import options as base
from wordgeom.core.errors import RankError
from wordgeom.core.formatting import several
from wordgeom.core.options import option
from wordgeom.core.types import Array, Csr, Float32, Float64
from wordgeom.linalg import options
from wordgeom.methods.contract import DOCUMENT_VECTORS, VECTORS, Result
from wordgeom.runtime.context import Context
from wordgeom.runtime.memory import check_memory

if TYPE_CHECKING:
    from wordgeom.linalg.eigensolver import Convergence, EigenSettings
    from wordgeom.linalg.svd import Svd
    from wordgeom.weighting.documents import WeightedDocuments

NEEDS = ("documents",)
MAKES = (VECTORS, DOCUMENT_VECTORS)

# Singular values below this share of the largest are rounding of X, whose entries are float32.
_ROUNDING = 1e-6
_ENTRY, _ROW = 8, 8  # bytes of the matrix in memory: of an entry, of a row


@dataclass(frozen=True)
class Options(base.Options):
    """What LSA can be told."""

    dim: int = option(100, "dimension of the vectors", low=1, metavar="K")
    eig: float = option(
        0.0, "power of the singular values in words' vectors, the rest is in documents': "
        "0 for equal weights, 1 for inner products",
        low=0.0, high=1.0, metavar="P",
    )  # fmt: skip
    tol: float = option(
        1e-2, "‖Xᵀu − σv‖ of each singular triplet is at most this times its σ",
        low=1e-10, high=0.1,
    )  # fmt: skip
    basis: int = options.basis()
    restarts: int = options.restarts()


def fit(inputs: Mapping[str, Any], options: Options, context: Context) -> Result:
    """Return V Σ^α, and in `arrays` U Σ^(1−α) of the documents (n × K) float32.

    Raises RankError where K is more than there is, InputError for too little memory.
    """
    from wordgeom.linalg.eigensolver import EigenSettings
    from wordgeom.linalg.svd import truncated_svd

    documents: WeightedDocuments = inputs["documents"]
    seed = int(context.rng.integers(1 << 62))
    wanted = EigenSettings(options.dim, options.tol, options.basis, options.restarts, seed)
    _check(documents, wanted, context.memory)

    def follow(looks: Iterator[Convergence]) -> Iterator[Convergence]:
        return context.progress.follow(
            looks, "singular values", options.dim, "triplets", lambda look: look.gained
        )

    X = documents.full()
    rows, columns = _squares(X)
    if not columns.any():
        raise RankError("the matrix has no entry that is not 0", do="choose another --weight")
    found = truncated_svd(X, wanted, context.ops, follow=follow, checkpoint=context.checkpoint)
    rank = int(np.count_nonzero(found.values > _ROUNDING * found.values[0]))
    captured = np.cumsum(found.values**2) / columns.sum()
    notes = [*_fit_notes(found, rank, captured), *_empty_notes(rows, columns)]
    statistics = {
        "effective_rank": rank,
        "converged": int(np.count_nonzero(found.converged)),
        "products": found.products,
        "spectrum_of": "singular values",
        "spectrum": found.values.tolist(),
        "residuals": found.residuals.tolist(),
        "captured": captured.tolist(),
    }
    words = _scaled(found.right, found.values, rank, options.eig, columns)
    texts = _scaled(found.left, found.values, rank, 1.0 - options.eig, rows)
    return Result(words, {"documents": texts}, notes, statistics)


def _check(documents: WeightedDocuments, wanted: EigenSettings, memory: int) -> None:
    """Refuse too large a K, and what does not fit into memory."""
    from wordgeom.linalg.svd import svd_bytes

    n, V = documents.shape
    if wanted.pairs > min(n, V):
        what = f"--dim {wanted.pairs} is more than there are documents or words"
        raise RankError(what, found=f"{n:,} × {V:,}", do="lower --dim")
    held = _ENTRY * documents.entries + _ROW * n
    what = "the matrix, its transpose and a basis of its singular vectors"
    do = "raise --memory, lower --dim or --basis, or count with --max-vocab"
    needed = held + svd_bytes(n, V, documents.entries, wanted)
    check_memory(what, needed, memory, do)


def _squares(X: Csr) -> tuple[Float64, Float64]:
    """Return the sums of squares of the rows (n) and of the columns (V)."""
    from wordgeom.linalg import kernels

    rows, columns = np.zeros(X.rows), np.zeros(X.columns)
    kernels.add_squares(X.indptr, X.indices, X.data, rows, columns)
    return rows, columns


def _scaled(side: Array, values: Float64, rank: int, power: float, squares: Float64) -> Float32:
    """Return side Σ^power, float32: 0 beyond the rank, and where X has nothing but 0.

    Such a row of a singular vector is 0; what is found for it is as large as the residual.
    """
    weights = np.zeros(len(values))
    weights[:rank] = values[:rank] ** power
    made: Float32 = (side * weights.astype(side.dtype)).astype(np.float32, copy=False)
    made[squares == 0.0] = 0.0
    return made


def _fit_notes(found: Svd, rank: int, captured: Float64) -> list[str]:
    """Tell how much of X is held and how well, and what was not found."""
    K = len(found.values)
    ratios = found.residuals[:rank] / found.values[:rank]
    notes = [
        f"{several(K, 'dimension holds', 'dimensions hold')} {captured[-1]:.2%} of the squared "
        f"norm of the matrix; the worst ‖Xᵀu − σv‖ is {ratios.max():.1e} σ"
    ]
    if rank < K:
        notes.append(_rank_note(rank, K, found.left.dtype))
    missed = int(np.count_nonzero(~found.converged[:rank]))
    if missed:
        notes.append(f"{missed} of {K} singular triplets miss --tol: raise --restarts or --basis")
    return notes


def _rank_note(rank: int, K: int, kind: np.dtype[Any]) -> str:
    """Tell why there are fewer dimensions: what float32 loses of them need not be rounding."""
    if kind == np.float32:
        above = "above what float32 tells, 3e-4 of the largest"
        do = "lower --dim; a --tol below 1e-4 is computed in float64"
    else:
        above, do = f"more than rounding, {_ROUNDING:g} of the largest", "lower --dim"
    zero = several(K - rank, "column is zero", "columns are zero")
    return f"{rank} of {K} singular values are {above}: {zero}; {do}"


def _empty_notes(rows: Float64, columns: Float64) -> list[str]:
    """Tell of words and documents that have nothing in X."""
    notes = []
    for squares, one, more in ((columns, "word", "words"), (rows, "document", "documents")):
        empty = int(np.count_nonzero(squares == 0.0))
        if empty:
            notes.append(
                several(
                    empty,
                    f"{one} has no weight in the matrix: its vector is 0",
                    f"{more} have no weight in the matrix: their vectors are 0",
                )
            )
    return notes
