"""Geometric build-up: eigenvectors of a few anchor words, least squares for all the others.

Khalife, Gonçalves and Liberti (2022), Algorithm 1, §3.2–3.3, §4.2. The m most frequent words are
the anchors. With the top K eigenpairs of their block, G₀ ≈ U Λ Uᵀ, their vectors are U Λ^½; any
other word's is the least-squares solution of A v = G[:m, i], that is Λ^{-½} Uᵀ G[:m, i]. One pass
over m columns makes it the fastest method here. It sees nothing of the other columns, so that
`pmi-eigs` is the better choice where seconds do not matter.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from wordgeom import options as base
from wordgeom.errors import InputError, OptionError, RankError
from wordgeom.memory import refuse_too_large
from wordgeom.options import option
from wordgeom.types import Csr, Float64, Int64, Matrix, Result, Run
from wordgeom.wording import several

if TYPE_CHECKING:
    from wordgeom.linalg.ops import Ops

NEEDS = ("matrix",)

_PAPERS_ANCHORS = 4  # times K (§5)
_PAPERS_EIG = 0.5
# An eigendecomposition of m × m: its arrays (the block, LAPACK's copy and two to work in, the
# result), its work, and what one thread does in a second.
_DENSE_COPIES, _EIGH_FLOPS, _FLOPS = 5, 4.0, 2e10
_ROW = 100  # bytes of a row beside its entries: its word, where it begins, its tiles
_LONG = 10.0  # seconds worth a word beforehand
_log = logging.getLogger(__name__)
# Eigenvalues below this share of the largest are rounding of G and would be divided by.
_ROUNDING = {"float32": 1e-6, "float64": 1e-12}


@dataclass(frozen=True)
class Options(base.Options):
    """What the build-up can be told."""

    dim: int = option(100, "dimension of the vectors", low=1, metavar="K")
    anchors: int = option(
        0, "the most frequent words to build on, 0 for 4 times --dim", low=0, metavar="M"
    )
    eig: float = option(
        _PAPERS_EIG, "power of the eigenvalues: ½ for inner products, 0 for equal weights",
        low=0.0, high=1.0, metavar="P",
    )  # fmt: skip
    as_published: bool = option(
        False, "Algorithm 1 to the letter; stays so when better defaults come"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, papers in (("anchors", 0), ("eig", _PAPERS_EIG)):
            if self.as_published and getattr(self, name) != papers:
                what = f"--as-published has its own {base.flag(name)}"
                do = "give one of the two"
                raise OptionError(what, found=f"{base.flag(name)} {getattr(self, name)}", do=do)


@dataclass(frozen=True)
class Built:
    """vectors (V × K) in the type of G; eigenvalues (K) of the anchors' block; the rank used."""

    vectors: NDArray[Any]
    eigenvalues: Float64
    rank: int


def fit(inputs: Mapping[str, Any], options: Options, run: Run) -> Result:
    """Build vectors up from anchors; raises RankError where K is more than there is, InputError."""
    matrix: Matrix = inputs["matrix"]
    if not matrix.symmetric:
        raise InputError(
            "gbu needs a symmetric matrix", found="counts of one side", do="count --context both"
        )
    anchors, notes = _anchors(matrix.frequencies, options)
    _check_effort(matrix, anchors, options.dim, run.memory)
    columns = matrix.columns(anchors)
    built = build_up(columns, anchors, options.dim, options.eig, run.ops)
    lonely = int(np.count_nonzero(np.diff(columns.indptr) == 0))
    notes += _rank_notes(built, options.dim) + _lonely_notes(lonely, len(anchors))
    statistics = {
        "anchors": len(anchors),
        "effective_rank": built.rank,
        "zero_vectors": lonely,
        "largest_eigenvalue": float(built.eigenvalues[0]),
        "smallest_eigenvalue": float(built.eigenvalues[-1]),
    }
    vectors = np.ascontiguousarray(built.vectors, np.float32)
    return Result(vectors, notes=notes, statistics=statistics)


def build_up(columns: Csr, anchors: Int64, K: int, eig: float, ops: Ops) -> Built:
    """Run Algorithm 1 on G[:, anchors], `columns` (V × m), in the type of its data.

    Raises RankError where the anchors' block has no positive eigenvalue.
    """
    values, U = ops.eigh_top(_block(columns, anchors), K)  # (K), (m × K)
    rank = int(np.count_nonzero(values > _ROUNDING[columns.data.dtype.name] * max(values[0], 0.0)))
    if rank == 0:
        raise RankError(
            "the anchors' block has no positive eigenvalue",
            found=f"{columns.nnz:,} entries in the columns of {len(anchors):,} anchors",
            do="raise --anchors, or check the matrix",
        )
    solve, own = np.zeros(U.shape), np.zeros(U.shape)  # columns beyond the rank stay 0
    solve[:, :rank] = U[:, :rank] * values[:rank] ** (eig - 1.0)
    own[:, :rank] = U[:, :rank] * values[:rank] ** eig
    vectors = ops.spmm(columns, solve)
    vectors[anchors] = own
    vectors[np.diff(columns.indptr) == 0] = 0.0
    return Built(vectors, values, rank)


def _anchors(frequencies: Int64, options: Options) -> tuple[Int64, list[str]]:
    """Return the anchors' rows (m), ascending: their order among themselves changes nothing."""
    V, K = len(frequencies), options.dim
    if V < K:
        raise RankError(f"--dim {K} is more than there are words", found=V, do="lower --dim")
    wanted = options.anchors or _PAPERS_ANCHORS * K
    m = min(wanted, V)
    if m < K:
        what = f"--dim {K} is more than there are anchors"
        raise RankError(what, found=m, do=f"raise --anchors to {K} or more, or lower --dim")
    notes = [f"all {V:,} words are anchors, fewer than {wanted:,}"] if m < wanted else []
    by_frequency = np.argsort(-frequencies, kind="stable")
    return np.sort(by_frequency[:m]), notes


def _check_effort(matrix: Matrix, anchors: Int64, K: int, memory: int) -> None:
    """Tell beforehand of a long eigendecomposition; raise InputError for what does not fit."""
    m, V = len(anchors), len(matrix.frequencies)
    size = matrix.dtype.itemsize
    columns = matrix.entries_of(anchors) * (4 + size) + V * _ROW
    # The anchors' block has gone when the vectors come; those in float64 are rounded at the end.
    vectors = V * K * (size if size == 4 else size + 4)
    needed = columns + max(_DENSE_COPIES * 8 * m * m, vectors)
    what = f"the columns of {m:,} anchors and {V:,} vectors of {K:,}"
    do = "lower --anchors or --dim, count with --max-vocab, or raise --memory"
    refuse_too_large(what, needed, memory, do)
    seconds = _EIGH_FLOPS * float(m) ** 3 / _FLOPS
    if seconds > _LONG:
        _log.info("note: the eigenvectors of %s anchors take about %.0f s", f"{m:,}", seconds)


def _block(columns: Csr, rows: Int64) -> Float64:
    """Return some rows of a sparse matrix, dense (m × m), float64."""
    block = np.zeros((len(rows), columns.columns))
    for k, row in enumerate(rows.tolist()):
        entries = slice(columns.indptr[row], columns.indptr[row + 1])
        block[k, columns.indices[entries]] = columns.data[entries]
    return block


def _rank_notes(built: Built, K: int) -> list[str]:
    if built.rank == K:
        return []
    return [
        f"the anchors carry {built.rank} of {K} dimensions (the other eigenvalues are ≤ 0 or "
        f"rounding): {K - built.rank} columns are zero; raise --anchors or lower --dim"
    ]


def _lonely_notes(lonely: int, anchors: int) -> list[str]:
    if not lonely:
        return []
    words = several(lonely, "word has no entry", "words have no entry")
    return [f"{words} with any of the {anchors:,} anchors: zero vectors"]
